import { deepEqual } from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { AppPage } from './app-page.ts';

export interface Visit extends BrowserContextOptions {
  readonly language?: string;
  readonly theme?: object;
  /** Replaces the URL that the messenger opens. */
  readonly url?: string;
}

/**
 * Opens the mini app. Checks afterwards that it loaded only its own origin and violated no policy. The browser also
 * logs a rejection that a test requests.
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
    deepEqual(elsewhere, []);
    deepEqual(problems, []);
  } finally {
    await context.close();
  }
};

/** Waits until the page is drawn: on a slow machine the network is idle before the first request. */
export const untilDrawn = async (page: Page): Promise<void> => {
  await page.locator('h1, h2').first().waitFor();
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
};
