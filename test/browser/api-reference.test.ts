import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPages } from '../../lib/pages/build-pages.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { png, postImages, readImages } from '../support/image-service.ts';
import { readReference, rowsOf } from '../support/reference-document.ts';
import { chromiumPath, openBrowser } from './browser.ts';

test('REF-1 the bundled page has no code that reports installations', async () => {
  const files = (await buildPages()).filter(({ page }) => page === 'api-reference');
  const names = ['clients.css', 'clients.html', 'index.html', 'main.css', 'main.js', 'openapi.json'];
  expect(files.map(({ file }) => file).toSorted()).toEqual(names);
  for (const { file, bytes } of files) expect(Buffer.from(bytes).toString('utf8'), file).not.toMatch(/scarf/i);
});

/** Draws an image. Returns its name. */
const drawImage = async (gateway: TestGateway): Promise<string> => {
  const { data } = await readImages(await postImages(gateway, { model: 'gpt-image-2', size: '1024x1024' }));
  return data[0]?.url?.split('/').at(-1) ?? '';
};

interface Watched {
  readonly page: Page;
  /** URLs of other origins, and errors of the browser. */
  readonly strangers: string[];
  readonly problems: string[];
}

describe.skipIf(chromiumPath === undefined)('the viewer', () => {
  let vendor: Simulator;
  let gateway: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    vendor = await startSimulator();
    gateway = await startGateway({ vendorUrl: vendor.url, pages: await buildPages() });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await vendor?.stop();
  });

  const open = async (hash = '', options: Parameters<Browser['newPage']>[0] = {}): Promise<Watched> => {
    const page = await browser.newPage(options);
    const [strangers, problems]: [string[], string[]] = [[], []];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${gateway.url}/`) && !/^(?:data|blob):/.test(request.url()))
        strangers.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${gateway.url}/api-reference${hash}`, { waitUntil: 'networkidle' });
    await page.locator('.opblock').first().waitFor();
    return { page, strangers, problems };
  };

  /** Loading the viewer takes seconds, so the tests on a desktop share one page. */
  let desktop: Promise<Watched> | undefined;
  const openDesktop = (): Promise<Watched> => {
    desktop ??= open();
    return desktop;
  };

  /** Expands an operation of the shared page. */
  const expand = async (page: Page, id: string): Promise<Locator> => {
    const block = page.locator(`#operations-${id}`);
    await block.locator('.opblock-summary-control').click();
    await block.locator('.try-out__btn').click();
    return block;
  };

  const authorize = async (page: Page): Promise<void> => {
    if ((await page.locator('.auth-wrapper .authorize.locked').count()) > 0) return;
    await page.locator('.auth-wrapper .authorize').click();
    await page.locator('.modal-ux input[aria-label="auth-bearer-value"]').fill(gateway.apiKey);
    await page.locator('.modal-ux .authorize').first().click();
    await page.locator('.modal-ux .close-modal').click();
  };

  test('REF-1 the viewer lists every operation, loads nothing else and violates no policy', async () => {
    const { page, strangers, problems } = await openDesktop();
    expect(await page.locator('.opblock').count()).toBe(rowsOf(readReference()).length);
    expect(await page.title()).toBe('Model gateway: API reference');
    expect(await page.locator('.info').innerText()).toContain('1, 2, 5, 15 and 30 seconds');
    await page.locator('.filter input').fill('Videos');
    await page.locator('#operations-tag-Chat').waitFor({ state: 'detached' });
    expect(await page.locator('.opblock').count()).toBe(5);
    await page.locator('.filter input').fill('');
    await page.locator('#operations-tag-Chat').waitFor();
    expect([strangers, problems]).toEqual([[], []]);
  });

  test('REF-1 a chat that is tried out with the key shows 200, the response and its cost', async () => {
    const { page, strangers, problems } = await openDesktop();
    await authorize(page);
    const block = await expand(page, 'Chat-chatCompletions');
    await block.locator('.execute').click();
    const live = block.locator('.live-responses-table');
    await live.waitFor();
    expect(await live.locator('.response-col_status').last().innerText()).toContain('200');
    const shown = await live.innerText();
    expect(shown).toContain('chat.completion');
    expect(shown).toContain('x-service-cost-usd');
    expect(vendor.requests.at(-1)?.body).toMatchObject({ model: 'gpt-4.1-mini', max_completion_tokens: 100 });
    expect([strangers, problems]).toEqual([[], []]);
  });

  test('REF-1 a form is filled with its example and sent with a file', async () => {
    const { page, strangers, problems } = await openDesktop();
    await authorize(page);
    const block = await expand(page, 'Images-editImages');
    const file = { name: 'boat.png', mimeType: 'image/png', buffer: png() };
    await block.locator('[data-property-name="image"] input[type="file"]').first().setInputFiles(file);
    await block.locator('.execute').click();
    const live = block.locator('.live-responses-table');
    await live.waitFor();
    expect(await live.innerText()).toContain(`${gateway.url}/media/`);
    expect([strangers, problems]).toEqual([[], []]);
  });

  test('REF-1 an image is shown after it is fetched', async () => {
    const link = await drawImage(gateway);
    const { page, strangers, problems } = await openDesktop();
    const block = await expand(page, 'Images-getMedia');
    await block.locator('input[placeholder="name"]').fill(link);
    await block.locator('.execute').click();
    const image = block.locator('.live-responses-table img');
    await image.waitFor();
    expect(await image.evaluate((shown: HTMLImageElement) => shown.decode().then(() => shown.naturalWidth))).toBe(
      1_024,
    );
    expect([strangers, problems]).toEqual([[], []]);
  });

  test.each(['light', 'dark'] as const)('REF-1 the viewer fits a phone of 360 pixels, %s', async (colorScheme) => {
    const { page, problems } = await open('#/Chat/chatCompletions', {
      viewport: { width: 360, height: 740 },
      colorScheme,
    });
    await page.locator('#operations-Chat-chatCompletions .opblock-body').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    const isDark = await page.evaluate(() => document.documentElement.classList.contains('dark-mode'));
    expect(isDark).toBe(colorScheme === 'dark');
    expect(problems).toEqual([]);
    await page.close();
  });
});
