import { rmSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Environment, type LocalProcess, spawnLocal, until, within } from '../support/gateway-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { newFolder } from '../support/program.ts';
import { openBrowser } from './browser.ts';
import { openWatched, type WatchedPage } from './local-page-browser.ts';

export type LocalProgram = {
  readonly folder: string;
  readonly url: () => string;
  readonly browser: () => Browser;
};

export type PageProgram = LocalProgram & { readonly page: () => Page };

/** Starts `npm start` and a browser for the tests of the suite. */
export function useLocalProgram(environment: Environment = {}): LocalProgram {
  const folder = newFolder();
  let program: LocalProcess;
  let url: string;
  let browser: Browser;
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
  return { folder, url: () => url, browser: () => browser };
}

/** Starts `npm start` for the tests of the suite, and opens its page in a tab for each. */
export function useLocalPage(environment: Environment = {}): PageProgram {
  const program = useLocalProgram(environment);
  let watched: WatchedPage;
  beforeEach(async () => {
    watched = await openWatched(program.browser(), program.url());
  });
  afterEach(async () => {
    expect(watched.offOrigin).toEqual([]);
    expect(watched.problems).toEqual([]);
    await watched.page.close();
  });
  return { ...program, page: () => watched.page };
}
