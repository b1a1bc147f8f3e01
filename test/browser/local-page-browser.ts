import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

export type WatchedPage = {
  readonly page: Page;
  /** URLs of other origins. */
  readonly offOrigin: readonly string[];
  /** Errors of the browser, except for error responses, which it also logs. */
  readonly problems: readonly string[];
};

/** Opens a tab that records violations. */
export async function openWatched(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  const offOrigin: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !/^(?:data|blob):/.test(request.url())) offOrigin.push(request.url());
  });
  page.on('console', (message) => {
    const isAnswer = message.text().startsWith('Failed to load resource: the server responded with a status of');
    if (message.type() === 'error' && !isAnswer) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${url}/`, { waitUntil: 'load' });
  return { page, offOrigin, problems };
}

/** Sends the prompt, waits for the end of the response and returns the facts below it. */
export async function askInPlayground(page: Page, prompt: string): Promise<ReadonlyMap<string, string>> {
  const panel = page.getByRole('tabpanel');
  await panel.locator('[name=prompt]').fill(prompt);
  await panel.getByRole('button', { name: 'Send' }).click();
  await panel.locator('.answer.done, .answer.failed').waitFor();
  return readFacts(page);
}

/** Shows a mode of the playground, and returns its panel. */
export async function openMode(page: Page, mode: string): Promise<Locator> {
  await page.getByRole('tab', { name: mode }).click();
  return page.getByRole('tabpanel', { name: mode });
}

export async function readFacts(page: Page): Promise<ReadonlyMap<string, string>> {
  const facts = page.getByRole('tabpanel').locator('.facts > div');
  const [names, values] = await Promise.all([
    facts.locator('dt').allTextContents(),
    facts.locator('dd').allTextContents(),
  ]);
  return new Map(names.map((name, index) => [name, values[index] ?? '']));
}
