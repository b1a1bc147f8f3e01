import { rmSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Environment, type LocalProcess, spawnLocal, until, within } from '../support/gateway-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { newFolder } from '../support/program.ts';
import { openBrowser } from './browser.ts';

type WatchedPage = {
  readonly page: Page;
  /** URLs of other origins. */
  readonly offOrigin: readonly string[];
  /** Errors of the browser, except for error responses, which it also logs. */
  readonly problems: readonly string[];
};

/** Opens a tab that records violations. */
async function openWatched(browser: Browser, url: string): Promise<WatchedPage> {
  const page = await browser.newPage();
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

export interface ServedPage {
  readonly url: string;
  /** Tab of the present test. */
  readonly page: Page;
}

/**
 * Runs the program during a suite, and opens its page for each test. A test fails if the page has an error or requests
 * another origin.
 */
export function serveLocalPage(environment: Environment = {}): ServedPage {
  const folder = newFolder();
  let program: LocalProcess;
  let url: string;
  let browser: Browser;
  let watched: WatchedPage;
  beforeAll(async () => {
    program = spawnLocal({ ...unlimited, DATA_DIR: folder, ...environment });
    url = await until('the ready line', () => /^ready (http:\S+)$/m.exec(program.stdout())?.[1]);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    program?.kill('SIGTERM');
    await within('the end of the program', program.end);
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    watched = await openWatched(browser, url);
  });
  afterEach(async () => {
    expect(watched.offOrigin).toEqual([]);
    expect(watched.problems).toEqual([]);
    await watched.page.close();
  });
  return {
    get url() {
      return url;
    },
    get page() {
      return watched.page;
    },
  };
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
