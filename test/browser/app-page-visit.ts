import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { AppPage } from './app-page.ts';

export interface Visit extends BrowserContextOptions {
  readonly language?: string;
  readonly theme?: object;
  /** In place of the address the messenger opens. */
  readonly url?: string;
}

/**
 * Opens the mini app, and afterwards sees to it that it asked nobody but its own origin and broke none of its own rules. A refusal
 * that a test has asked for is told on the console as well.
 */
export const visit = async (
  { browser, app }: { readonly browser: Browser; readonly app: Pick<AppPage, 'url' | 'opened'> },
  { language, theme, url, ...options }: Visit,
  look: (page: Page) => Promise<void>,
): Promise<void> => {
  const context = await browser.newContext({ timezoneId: 'UTC', ...options });
  try {
    const page = await context.newPage();
    const elsewhere: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${app.url}/`) && !request.url().startsWith('data:')) elsewhere.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(url ?? app.opened(language, theme), { waitUntil: 'networkidle' });
    await untilDrawn(page);
    await look(page);
    expect(elsewhere).toEqual([]);
    expect(problems).toEqual([]);
  } finally {
    await context.close();
  }
};

/** A slow machine is idle for a moment before it has drawn anything, or asked for it. */
export const untilDrawn = async (page: Page): Promise<void> => {
  await page.locator('h1, h2').first().waitFor();
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
};
