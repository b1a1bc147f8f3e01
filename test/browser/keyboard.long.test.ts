import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { appScene } from './app-scene.ts';
import { appViews } from './app-views.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { builtPages } from './built-pages.ts';
import { openWatched } from './local-page-browser.ts';
import { useLocalProgram } from './local-page-program.ts';
import { localPageViews } from './local-page-views.ts';
import { contextOf, variants } from './page-views.ts';
import { dialogFault, STOPS_MAX, tabThrough } from './tab-order.ts';

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

describe.skipIf(chromiumPath === undefined)('keyboard of the local page', () => {
  const program = useLocalProgram();

  test('OPS-6 Tab reaches every control of the local page in order, with a visible focus', async () => {
    const { page } = await openWatched(program.browser(), program.url(), contextOf(desktop));
    await localPageViews[0]?.reach(page);
    await expectTabOrder(page);
    await page.close();
  });

  test('OPS-6 the mini app in the local page keeps the focus until Escape closes it', async () => {
    const { page } = await openWatched(program.browser(), program.url(), contextOf(desktop));
    await page.getByRole('button', { name: 'Open mini app' }).waitFor();
    expect(await dialogFault(page, '.chat-head button')).toBeUndefined();
    await page.close();
  });
});

/** Presses Tab until the element has the focus. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  for (let pressed = 0; pressed < STOPS_MAX; pressed += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab does not reach the element.');
};

describe.skipIf(chromiumPath === undefined)('keyboard of the reference', () => {
  let vendor: Simulator;
  let gateway: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    vendor = await startSimulator();
    gateway = await startGateway({ vendorUrl: vendor.url, pages: await builtPages() });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await vendor?.stop();
  });

  test.each([
    ['/api-reference', desktop],
    ['/api-reference/guides/clients', phone],
    ['/api-reference/routes/chat-completions', desktop],
  ])('REF-2 Tab reaches every control of %s in order, with a visible focus', async (path, variant) => {
    const page = await browser.newPage(contextOf(variant));
    await page.goto(`${gateway.url}${path}`);
    await expectTabOrder(page);
    await page.close();
  });

  test('REF-3 a page is found, copied from and sent with the keyboard alone', async () => {
    const context = await browser.newContext({
      ...contextOf(desktop),
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    await page.goto(`${gateway.url}/api-reference`);
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.type('create a chat completion');
    await page.locator('.found a[href$="/routes/chat-completions"]').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/routes/chat-completions');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('main').evaluate((main) => main === document.activeElement)).toBe(true);

    const request = page.getByRole('region', { name: 'Request', exact: true });
    await tabTo(page, request.getByRole('tab', { selected: true }));
    await page.keyboard.press('ArrowRight');
    const sample = await request.getByRole('tabpanel').locator('code').innerText();
    expect(sample).toContain('import');
    await tabTo(page, request.getByRole('tabpanel').getByRole('button', { name: 'Copy' }));
    await page.keyboard.press('Enter');
    await request.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(sample);

    await tabTo(page, page.getByText('Send a request'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByLabel('API key'));
    await page.keyboard.type(gateway.apiKey);
    await tabTo(page, page.getByRole('button', { name: 'Send' }));
    await page.keyboard.press('Enter');
    await page.locator('.reply').getByText('chat.completion').waitFor();
    expect(await page.locator('.reply').innerText()).toMatch(/^200/);
    await context.close();
  });

  test('REF-3 the search keeps the focus until Escape closes it', async () => {
    const page = await browser.newPage(contextOf(phone));
    await page.goto(`${gateway.url}/api-reference`);
    expect(await dialogFault(page, '.find')).toBeUndefined();
    await page.close();
  });
});
