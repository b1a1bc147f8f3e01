import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PageFile } from '../../lib/pages/build-pages.ts';
import { referenceFiles } from '../../lib/pages/reference-pages.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { referencePath } from '../support/reference-document.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { builtPages } from './built-pages.ts';

const chatPage = 'routes/chat-completions.html';

/** Returns the page of chat completions with three known code samples. */
const chatWithSamples = (): PageFile => {
  const description = JSON.parse(readFileSync(referencePath, 'utf8'));
  description.paths['/v1/chat/completions'].post['x-codeSamples'] = [
    { lang: 'shell', label: 'curl', source: 'curl "$GATEWAY_URL/v1/chat/completions"' },
    { lang: 'python', label: 'Python', source: 'import openai\n\nclient = openai.OpenAI()' },
    { lang: 'javascript', label: 'JavaScript', source: "import OpenAI from 'openai';" },
  ];
  const found = referenceFiles(JSON.stringify(description)).find(({ file }) => file === chatPage);
  if (!found) throw new Error(`${chatPage} was not built.`);
  return { ...found, page: 'api-reference', mediaType: 'text/html; charset=utf-8' };
};

/** Returns the longest line of running text on the page, measured letter by letter. */
const longestLine = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const texts = 'p, li, dd, h1, h2, h3, h4';
    const nodesOf = (element: Element): Node[] => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const nodes: Node[] = [];
      while (walker.nextNode()) nodes.push(walker.currentNode);
      return nodes.filter((node) => node.parentElement?.closest(`${texts}, pre, table, summary`) === element);
    };
    const lettersOf = (node: Node): { readonly letter: string; readonly box: DOMRect | undefined }[] =>
      [...(node.nodeValue ?? '')].map((letter, index) => {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + 1);
        return { letter, box: range.getClientRects()[0] };
      });
    // Code in a line is a little smaller than the text around it.
    const linesOf = (element: Element): string[] => {
      const shown = nodesOf(element)
        .flatMap(lettersOf)
        .filter(({ box }) => box !== undefined && box.width > 0);
      const lines = Map.groupBy(shown, ({ box }) => Math.round((box?.bottom ?? 0) / 8));
      return [...lines.values()].map((line) => line.map(({ letter }) => letter).join(''));
    };
    const all = [...document.querySelectorAll(`main :is(${texts})`)].flatMap(linesOf);
    return all.reduce((longest, line) => (line.length > longest.length ? line : longest), '');
  });

describe.skipIf(chromiumPath === undefined)('the reference', () => {
  let vendor: Simulator;
  let gateway: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    const pages = (await builtPages()).filter(({ file }) => !file.startsWith(chatPage));
    vendor = await startSimulator();
    gateway = await startGateway({ vendorUrl: vendor.url, pages: [...pages, chatWithSamples()] });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await vendor?.stop();
  });

  /** Opens a page, runs a test on it, and checks that the page loads nothing from elsewhere and reports no error. */
  const visit = async (path: string, use: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${gateway.url}/`) && !request.url().startsWith('data:'))
        problems.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${gateway.url}${path}`, { waitUntil: 'networkidle' });
    await use(page);
    expect(problems).toEqual([]);
    await context.close();
  };

  test('REF-3 search finds a route and a guide, and Enter opens the first result', () =>
    visit('/api-reference', async (page) => {
      await page.keyboard.press('/');
      const field = page.getByRole('searchbox');
      await field.fill('fetch the file of a vid');
      await page
        .locator('.found')
        .getByRole('link', { name: /Fetch the file of a video/ })
        .waitFor();
      await field.fill('idempotent requests');
      await page.locator('.found a').first().waitFor();
      expect(await page.locator('.found a').first().getAttribute('href')).toBe(
        '/api-reference/guides/idempotent-requests',
      );
      await page.keyboard.press('ArrowDown');
      expect(
        await page
          .locator('.found a')
          .first()
          .evaluate((link) => link.matches(':focus')),
      ).toBe(true);
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/guides/idempotent-requests');
    }));

  test('REF-3 a search that finds nothing links to the guides, and Escape closes the search', () =>
    visit('/api-reference', async (page) => {
      await page.keyboard.press('/');
      await page.getByRole('searchbox').fill('xyzzy');
      const hint = page.locator('dialog.search .hint');
      await hint.getByRole('link', { name: 'Quick start' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.keyboard.press('/');
      await page.getByRole('searchbox').fill('tools');
      await page.locator('.found a').first().waitFor();
      expect(await hint.isVisible()).toBe(false);
    }));

  test('REF-3 tabs switch by click and by key, and the language holds for the next page', () =>
    visit('/api-reference/routes/chat-completions', async (page) => {
      const request = page.getByRole('region', { name: 'Request', exact: true });
      expect(await request.getByRole('tabpanel').innerText()).toContain('curl "$GATEWAY_URL');
      await request.getByRole('tab', { name: 'Python' }).click();
      expect(await request.getByRole('tabpanel').innerText()).toContain('import openai');
      await page.keyboard.press('ArrowRight');
      expect(await request.getByRole('tabpanel').innerText()).toContain("import OpenAI from 'openai'");
      await page.reload({ waitUntil: 'networkidle' });
      expect(await request.getByRole('tab', { selected: true }).innerText()).toBe('JavaScript');
    }));

  test('REF-3 the copy button copies exactly the code', () =>
    visit(
      '/api-reference/routes/chat-completions',
      async (page) => {
        const request = page.getByRole('region', { name: 'Request', exact: true });
        await request.getByRole('tab', { name: 'Python' }).click();
        await request.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click();
        await request.getByRole('button', { name: 'Copied' }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        expect(copied).toBe('import openai\n\nclient = openai.OpenAI()');
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    ));

  test('REF-3 the theme follows the system until the reader chooses another', () =>
    visit('/api-reference', async (page) => {
      const background = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
      await page.emulateMedia({ colorScheme: 'light' });
      const light = await background();
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await background();
      expect(dark).not.toBe(light);
      await page.getByRole('button', { name: 'Use the light theme' }).click();
      expect(await background()).toBe(light);
      await page.goto(`${gateway.url}/api-reference/guides/keys`, { waitUntil: 'networkidle' });
      expect(await background()).toBe(light);
      await page.getByRole('button', { name: 'Use the dark theme' }).click();
      expect(await background()).toBe(dark);
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await background()).toBe(light);
    }));

  test('REF-1 a chat that is sent with the key shows 200, the response and its cost', () =>
    visit('/api-reference/routes/chat-completions', async (page) => {
      await page.getByText('Send a request').click();
      await page.getByLabel('API key').fill(gateway.apiKey);
      await page.getByRole('button', { name: 'Send' }).click();
      const reply = page.locator('.reply');
      await reply.getByText('chat.completion').waitFor();
      expect(await reply.innerText()).toMatch(/^200/);
      expect(await reply.innerText()).toMatch(/x-service-cost-usd: 0\.\d+/);
      expect(vendor.requests.at(-1)?.body).toMatchObject({ model: 'gpt-4.1-mini', max_completion_tokens: 100 });
      expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('sk-');
    }));

  test.each([
    ['get-model', 'id', 'gpt-4.1-mini', '/v1/models/gpt-4.1-mini'],
    ['list-usage', 'limit', '1', '/api/usage?limit=1'],
  ])('REF-1 the form of %s sends the value of %s', (name, label, value, target) =>
    visit(`/api-reference/routes/${name}`, async (page) => {
      await page.getByText('Send a request').click();
      await page.getByLabel('API key').fill(gateway.apiKey);
      await page.getByLabel(label, { exact: true }).fill(value);
      const asked = page.waitForRequest((request) => !request.url().includes('/api-reference/'));
      await page.getByRole('button', { name: 'Send' }).click();
      expect((await asked).url()).toBe(`${gateway.url}${target}`);
      await page.locator('.reply').getByText(/^200/).waitFor();
    }),
  );

  test.each([
    '/api-reference',
    '/api-reference/routes/chat-completions',
    '/api-reference/guides/billing-and-receipts',
    '/api-reference/guides/errors-and-retries',
  ])('REF-3 no line of text at %s has more than 75 characters', (path) =>
    visit(
      path,
      async (page) => {
        const line = await longestLine(page);
        expect(line.length, line).toBeLessThanOrEqual(75);
        expect(line.length, line).toBeGreaterThan(40);
      },
      { viewport: { width: 1600, height: 900 } },
    ),
  );

  test.each(['light', 'dark'] as const)(
    'REF-1 a route fits a phone of 360 pixels, and its menu opens, %s',
    (colorScheme) =>
      visit(
        '/api-reference/routes/chat-completions#402',
        async (page) => {
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
          expect(await page.locator('details#\\34 02').getAttribute('open')).not.toBeNull();
          const link = page
            .getByRole('navigation', { name: 'API reference' })
            .getByRole('link', { name: 'Quick start' });
          expect(await link.isVisible()).toBe(false);
          await page.getByRole('button', { name: 'Menu' }).click();
          await link.click();
          await page.waitForURL('**/guides/quick-start');
        },
        { viewport: { width: 360, height: 740 }, colorScheme },
      ),
  );

  test('REF-1 the keyboard reaches the content through the skip link', () =>
    visit('/api-reference/guides/keys', async (page) => {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.locator('main').evaluate((main) => main.matches(':focus'))).toBe(true);
    }));
});
