import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { fillHistory } from '../bin/pictures/history.ts';
import { startAppPage } from '../test/browser/app-page.ts';
import { untilDrawn } from '../test/browser/app-page-visit.ts';
import { appViews } from '../test/browser/app-views.ts';
import { openBrowser } from '../test/browser/browser.ts';
import { builtPages } from '../test/browser/built-pages.ts';
import { openWatched } from '../test/browser/local-page-browser.ts';
import { localPageViews } from '../test/browser/local-page-views.ts';
import { contextOf, variants } from '../test/browser/page-views.ts';
import { referencePages } from '../test/browser/reference-paths.ts';
import { spawnLocal, until } from '../test/support/gateway-process.ts';
import { unlimited } from '../test/support/in-process-gateway.ts';
import { type Figures, measurePage, type Target } from './page-figures.ts';

/**
 * Weight and loading times of every page that `npm start` serves, on a slow processor and network. With
 * `--screenshots <folder>`, writes every page and view on two screens in light and dark instead.
 */
const RUNS = Number(process.env.BENCH_RUNS ?? 5);
/** Part of the name of the pages or screenshots to make, as a regular expression. */
const ONLY = new RegExp(process.env.BENCH_ONLY ?? '');

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const columns: Readonly<Record<keyof Figures, (value: number) => string>> = {
  requests: String,
  servedBytes: (bytes) => `${(bytes / 1_000).toFixed(0)} kB`,
  gzipBytes: (bytes) => `${(bytes / 1_000).toFixed(0)} kB`,
  brotliBytes: (bytes) => `${(bytes / 1_000).toFixed(0)} kB`,
  nodes: String,
  firstPaintMs: (ms) => ms.toFixed(0),
  largestPaintMs: (ms) => ms.toFixed(0),
  interactiveMs: (ms) => ms.toFixed(0),
  blockedMs: (ms) => ms.toFixed(0),
  layoutShift: (shift) => shift.toFixed(3),
};
const titles = ['requests', 'served', 'gzip', 'brotli', 'nodes', 'FCP ms', 'LCP ms', 'TTI ms', 'TBT ms', 'CLS'];

const printRow = (name: string, cells: readonly string[]): void =>
  console.log(`${name.padEnd(38)}${cells.map((cell) => cell.padStart(9)).join('')}`);

const measure = async (browser: Browser, targets: readonly Target[]): Promise<void> => {
  printRow('page', titles);
  for (const target of targets.filter(({ name }) => ONLY.test(name))) {
    for (const variant of variants.slice(0, 2)) {
      const runs: Figures[] = [];
      while (runs.length < RUNS) runs.push(await measurePage(browser, target, contextOf(variant)));
      const cells = Object.entries(columns).map(([name, write]) =>
        write(median(runs.map((run) => run[name as keyof Figures]))),
      );
      printRow(`${target.name} (${variant.name.replace(/^\w+-/, '')})`, cells);
    }
  }
};

const startProgram = async (folder: string) => {
  const program = spawnLocal({ ...unlimited, DATA_DIR: folder, START_CREDIT_USD: '25' });
  const url = await until('the ready line', () => /^ready (http:\S+)$/m.exec(program.stdout())?.[1]);
  const stop = async (): Promise<void> => {
    program.kill('SIGTERM');
    await program.end;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
};

/** Returns the URL of the mini app with init data that is signed now. */
const openedApp = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/local/state?language=en`);
  const { messenger }: { readonly messenger: { readonly init_data: string } } = await response.json();
  return `${url}/app#tgWebAppData=${encodeURIComponent(messenger.init_data)}`;
};

const listTargets = async (url: string): Promise<readonly Target[]> => [
  { name: 'mini app', open: () => openedApp(url), ready: '#spend figure, #spend .none' },
  { name: 'local page', open: async () => `${url}/`, ready: '.playground' },
  ...referencePages(await builtPages()).map(({ path }) => ({
    name: path,
    open: async () => `${url}${path}`,
    ready: 'h1',
  })),
];

const save = async (page: Page, folder: string, name: string): Promise<void> => {
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  console.log(`${name}.png`);
};

const saveApp = async (browser: Browser, folder: string): Promise<void> => {
  for (const { name, prepare, isOpen, reach } of appViews) {
    for (const language of ['en', 'ru'].filter((each) => ONLY.test(`app-${name}-${each}`))) {
      const app = await startAppPage();
      prepare?.(app);
      const page = await browser.newPage({ ...contextOf(variants[0]), timezoneId: 'UTC' });
      await page.goto(isOpen ? `${app.url}/app` : app.opened(language));
      await untilDrawn(page);
      await reach(page);
      for (const { name: variant, viewport, colorScheme } of variants) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await save(page, folder, `app-${name}-${language}-${variant}`);
      }
      await page.close();
      void app.stop();
    }
  }
};

const saveOthers = async (browser: Browser, folder: string, url: string): Promise<void> => {
  for (const variant of variants) {
    for (const { name, reach } of localPageViews.filter((view) => ONLY.test(`local-${view.name}`))) {
      const { page } = await openWatched(browser, url, contextOf(variant));
      await page.locator('h2').first().waitFor();
      await reach(page);
      await save(page, folder, `local-${name}-${variant.name}`);
      await page.close();
    }
    const page = await browser.newPage(contextOf(variant));
    for (const { path } of referencePages(await builtPages()).filter(({ path }) => ONLY.test(path))) {
      await page.goto(`${url}${path}`, { waitUntil: 'networkidle', timeout: 120_000 });
      await save(page, folder, `${path.slice(1).replaceAll('/', '-')}-${variant.name}`);
    }
    await page.close();
  }
};

const { screenshots } = parseArgs({ options: { screenshots: { type: 'string' } } }).values;
const dataFolder = mkdtempSync(join(tmpdir(), 'gateway-pages-'));
const program = await startProgram(dataFolder);
const browser = await openBrowser();
try {
  if (screenshots === undefined) {
    await fillHistory(program.url, dataFolder);
    await measure(browser, await listTargets(program.url));
  } else {
    mkdirSync(screenshots, { recursive: true });
    await saveApp(browser, screenshots);
    await saveOthers(browser, screenshots, program.url);
  }
} finally {
  await browser.close();
  await program.stop();
}
// Servers of views that never respond keep connections open.
process.exit(0);
