import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

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
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) offOrigin.push(request.url());
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
  const playground = page.getByRole('region', { name: 'Playground' });
  await playground.locator('[name=prompt]').fill(prompt);
  await playground.getByRole('button', { name: 'Send' }).click();
  await playground.locator('.answer.done, .answer.failed').waitFor();
  return readFacts(page);
}

export async function readFacts(page: Page): Promise<ReadonlyMap<string, string>> {
  const facts = page.locator('.facts > div');
  const [names, values] = await Promise.all([
    facts.locator('dt').allTextContents(),
    facts.locator('dd').allTextContents(),
  ]);
  return new Map(names.map((name, index) => [name, values[index] ?? '']));
}
