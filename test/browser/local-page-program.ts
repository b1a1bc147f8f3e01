import { rmSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Environment, type LocalProcess, spawnLocal, until, within } from '../support/gateway-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { newFolder } from '../support/program.ts';
import { openBrowser } from './browser.ts';
import { openWatched, type WatchedPage } from './local-page-browser.ts';

export type PageProgram = {
  readonly folder: string;
  readonly url: () => string;
  readonly page: () => Page;
};

/** Starts `npm start` for the tests of the file, and opens its page in a tab for each. */
export function useLocalPage(environment: Environment = {}): PageProgram {
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
  return { folder, url: () => url, page: () => watched.page };
}
