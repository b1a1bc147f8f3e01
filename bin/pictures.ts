import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { fillHistory } from './pictures/history.ts';

/*
 * Takes the pictures of the README from the running program (`npm run pictures`). Needs Chromium, in a usual place or
 * at the path in CHROMIUM.
 */

const folder = join(import.meta.dirname, '../docs/pictures');
const places = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/google-chrome',
];

const startProgram = async (dataFolder: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'local.ts')], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataFolder, START_CREDIT_USD: '25' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const [, found] = /^ready (\S+)$/.exec(line) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error('The local gateway ended before it was ready.')));
  });
  const end = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  return { url, end };
};

interface Shot {
  readonly name: string;
  readonly options: BrowserContextOptions;
  readonly address: (url: string) => string | Promise<string>;
  readonly prepare: (page: Page) => Promise<void>;
}

const wide = { viewport: { width: 1280, height: 800 } } as const;
const phone = { viewport: { width: 360, height: 780 }, deviceScaleFactor: 2 } as const;

const openedApp = async (url: string, language: string): Promise<string> => {
  const answer = await fetch(`${url}/local/state?language=${language}`);
  const state: { readonly messenger?: { readonly app_url: string; readonly init_data: string } } = await answer.json();
  return `${url}/app#tgWebAppData=${encodeURIComponent(state.messenger?.init_data ?? '')}`;
};

const untilQuiet = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await page.locator('#app svg').first().waitFor();
};

const tryEverything = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: '/start' }).click();

  const playground = page.getByRole('tabpanel');
  for (const prompt of ['Say hello in three languages.', 'What is a hold?']) {
    await playground.locator('[name=prompt]').fill(prompt);
    await playground.getByRole('button', { name: 'Send' }).click();
    await playground.locator('.answer.done').waitFor();
    // Wait until the ledger on the page replaces the hold by its outcome.
    await page.waitForTimeout(1_500);
  }
  // The page scrolls to the end of a response.
  await page.getByRole('region', { name: 'Playground' }).evaluate((pane) => pane.scrollTo(0, 0));
};

const withoutSteps = async (page: Page): Promise<void> => page.waitForLoadState('networkidle');

const localPage: Shot = {
  name: 'local-page',
  options: wide,
  address: (url) => `${url}/`,
  prepare: tryEverything,
};

const others: readonly Shot[] = [
  {
    name: 'mini-app',
    options: wide,
    address: (url) => openedApp(url, 'en'),
    prepare: untilQuiet,
  },
  {
    name: 'mini-app-phone',
    options: { ...phone, colorScheme: 'dark' },
    address: (url) => openedApp(url, 'ru'),
    prepare: untilQuiet,
  },
  {
    name: 'api-reference',
    options: wide,
    address: (url) => `${url}/api-reference/routes/chat-completions`,
    prepare: withoutSteps,
  },
];

const take = async (browser: Browser, url: string, { name, options, address, prepare }: Shot): Promise<void> => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(await address(url));
  await prepare(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
  process.stdout.write(`docs/pictures/${name}.png\n`);
};

const executablePath = places.find((path) => path !== undefined && path !== '' && existsSync(path));
if (executablePath === undefined) throw new Error('Chromium: not found. Set CHROMIUM=/path/to/chromium.');
mkdirSync(folder, { recursive: true });
const dataFolder = mkdtempSync(join(tmpdir(), 'gateway-pictures-'));
const program = await startProgram(dataFolder);
try {
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  await take(browser, program.url, localPage);
  await fillHistory(program.url, dataFolder);
  for (const shot of others) await take(browser, program.url, shot);
  await browser.close();
} finally {
  await program.end();
  rmSync(dataFolder, { recursive: true, force: true });
}
