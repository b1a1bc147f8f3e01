import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { builtPages } from './built-pages.ts';

describe.skipIf(chromiumPath === undefined)('pages', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ vendorUrl: 'http://127.0.0.1:9', pages: await builtPages() });
  });
  afterAll(() => gateway?.stop());

  test.each([
    '/app',
    '/api-reference',
    '/api-reference/clients',
    '/api-reference/guides/keys',
    '/api-reference/routes/health',
  ])('REF-1 %s loads only its own origin and violates no policy', async (path) => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      const problems: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(error.message));
      await page.goto(`${gateway.url}${path}`, { waitUntil: 'networkidle' });
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.filter((url) => !url.startsWith(gateway.url) && !url.startsWith('data:'))).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  test.each([
    ['/api-reference/clients', 'Clients'],
    ['/api-reference/guides/clients', 'Clients'],
    ['/api-reference/routes/chat-completions', 'Create a chat completion'],
  ])('REF-2 %s works without a script, in light and dark, on a phone', async (path, title) => {
    const browser = await openBrowser();
    try {
      const backgrounds = new Set<string>();
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({
          ...{ javaScriptEnabled: false, colorScheme },
          viewport: { width: 360, height: 700 },
        });
        await page.goto(`${gateway.url}${path}`);
        expect(await page.locator('h1').allInnerTexts()).toEqual([title]);
        expect(await page.locator('body').evaluate(({ scrollWidth }) => scrollWidth)).toBe(360);
        const body = page.locator('body');
        backgrounds.add(await body.evaluate((node) => getComputedStyle(node).backgroundColor));
        await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('link', { name: 'Quick start' }).first().click();
        await page.waitForURL('**/guides/quick-start');
        await page.close();
      }
      expect(backgrounds.size).toBe(2);
    } finally {
      await browser.close();
    }
  });
});
