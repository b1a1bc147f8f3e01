import { rmSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { type LocalProcess, spawnLocal, until, within } from '../support/gateway-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { newFolder } from '../support/program.ts';
import { appScene } from './app-scene.ts';
import { appViews } from './app-views.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { builtPages } from './built-pages.ts';
import { openWatched } from './local-page-browser.ts';
import { localPageViews } from './local-page-views.ts';
import { contextOf, variants } from './page-views.ts';
import { dialogFault, tabThrough } from './tab-order.ts';

const [desktop, phone] = variants;

const expectTabOrder = async (page: Page): Promise<void> => {
  for (const key of ['Tab', 'Shift+Tab'] as const) {
    const { expected, reached, withoutOutline, hidden } = await tabThrough(page, key);
    expect(reached).toEqual(expected);
    expect({ withoutOutline, hidden }).toEqual({ withoutOutline: [], hidden: [] });
  }
};

describe.skipIf(chromiumPath === undefined)('keyboard of the mini app', () => {
  const scene = appScene();

  test.each([
    { variant: desktop, name: desktop.name },
    { variant: phone, name: phone.name },
  ])('KEY-4 Tab reaches every control in order, with a visible focus, in $name', async ({ variant }) => {
    await scene.open(contextOf(variant), async (page) => {
      await appViews[0]?.reach(page);
      await expectTabOrder(page);
    });
  });

  test.each([
    ['rotation', '#key .danger'],
    ['revocation', '.keys .danger'],
  ])('KEY-4 the dialog of a %s keeps the focus until Escape closes it', async (_name, opener) => {
    await scene.open(contextOf(desktop), async (page) => expect(await dialogFault(page, opener)).toBeUndefined());
  });
});

describe.skipIf(chromiumPath === undefined)('keyboard of the other pages', () => {
  const folder = newFolder();
  let program: LocalProcess;
  let url: string;
  let browser: Browser;
  beforeAll(async () => {
    program = spawnLocal({ ...unlimited, DATA_DIR: folder });
    url = await until('the ready line', () => /^ready (http:\S+)$/m.exec(program.stdout())?.[1]);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    program?.kill('SIGTERM');
    await within('the end of the program', program.end);
    rmSync(folder, { recursive: true, force: true });
  });

  test('OPS-6 Tab reaches every control of the local page in order, with a visible focus', async () => {
    const { page } = await openWatched(browser, url, contextOf(desktop));
    await localPageViews[0]?.reach(page);
    await expectTabOrder(page);
    await page.close();
  });

  test('OPS-6 the mini app in the local page keeps the focus until Escape closes it', async () => {
    const { page } = await openWatched(browser, url, contextOf(desktop));
    await page.getByRole('button', { name: 'Open mini app' }).waitFor();
    expect(await dialogFault(page, '.chat-head button')).toBeUndefined();
    await page.close();
  });

  test('REF-2 Tab reaches every link and block of the client guide in order, with a visible focus', async () => {
    const gateway = await startGateway({ vendorUrl: 'http://127.0.0.1:9', pages: await builtPages() });
    try {
      const page = await browser.newPage(contextOf(phone));
      await page.goto(`${gateway.url}/api-reference/clients`);
      await expectTabOrder(page);
      await page.close();
    } finally {
      await gateway.stop();
    }
  });
});
