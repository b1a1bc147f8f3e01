import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { appScene } from './app-scene.ts';
import { type AppView, appViews } from './app-views.ts';
import { violationsOf } from './axe.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { builtPages } from './built-pages.ts';
import { openWatched } from './local-page-browser.ts';
import { useLocalProgram } from './local-page-program.ts';
import { localPageViews } from './local-page-views.ts';
import { contextOf, type Variant, variants } from './page-views.ts';
import { referencePages } from './reference-paths.ts';

const reference = referencePages(await builtPages());

/** Checks the page as each variant shows it, without loading it again. */
const expectNoViolations = async (page: Page, shown: readonly Variant[]): Promise<void> => {
  for (const { name, colorScheme, viewport } of shown) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // A header that stays in view covers a control behind it, which axe then counts as too small.
    await page.evaluate('scrollTo(0, 0)');
    const found = await violationsOf(page);
    expect(
      found.map(({ rule, selector, help }) => `${rule}: ${selector}: ${help}`),
      name,
    ).toEqual([]);
  }
};

describe.skipIf(chromiumPath === undefined)('accessibility of the mini app', () => {
  const scene = appScene();
  const rows = appViews.flatMap((view) => [
    { view, name: view.name, language: 'en', first: variants[0] },
    { view, name: view.name, language: 'ru', first: variants[1] },
  ]);

  const openView = ({ prepare, isOpen }: AppView, options: object, look: (page: Page) => Promise<void>) => {
    prepare?.(scene.app);
    return scene.open({ ...options, ...(isOpen ? { url: `${scene.app.url}/app` } : {}) }, look);
  };

  test.each(rows)('KEY-4 axe finds no violation in $name in $language', async ({ view, language, first }) => {
    await openView(view, { ...contextOf(first), language }, async (page) => {
      await view.reach(page);
      await expectNoViolations(page, variants);
    });
  });

  test('KEY-4 axe reports a text without enough contrast', async () => {
    await scene.open({ colorScheme: 'light' }, async (page) => {
      await page
        .locator('#balance .muted')
        .last()
        .evaluate(({ style }) => style.setProperty('color', '#999'));
      const found = await violationsOf(page);
      expect(found.map(({ rule }) => rule)).toEqual(['color-contrast']);
      expect(found[0]?.selector).toContain('.muted');
    });
  });
});

describe.skipIf(chromiumPath === undefined)('accessibility of the local page', () => {
  const program = useLocalProgram();

  test('OPS-6 axe finds no violation in the panels and dialogs of the local page', async () => {
    const { page } = await openWatched(program.browser(), program.url(), contextOf(variants[0]));
    for (const { reach } of localPageViews) {
      await reach(page);
      await expectNoViolations(page, variants);
      await page.setViewportSize(variants[0].viewport);
    }
    await page.close();
  });
});

describe.skipIf(chromiumPath === undefined)('accessibility of the reference', () => {
  let gateway: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    gateway = await startGateway({ vendorUrl: 'http://127.0.0.1:9', pages: await builtPages() });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test.each(reference)('REF-1 REF-2 axe finds no violation in $path with all its details open', async ({ path }) => {
    const page = await browser.newPage(contextOf(variants[0]));
    await page.goto(`${gateway.url}${path}`);
    await page.locator('details').evaluateAll(openAll);
    await expectNoViolations(page, variants);
    await page.close();
  });

  test('REF-3 axe finds no violation in the search and the menu of the reference', async () => {
    const page = await browser.newPage(contextOf(variants[1]));
    await page.goto(`${gateway.url}/api-reference`);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'API reference' }).getByRole('link').first().waitFor();
    await expectNoViolations(page, [variants[1]]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('keys');
    await page.locator('.found a').first().waitFor();
    await expectNoViolations(page, variants);
    await page.close();
  });
});

const openAll = (all: readonly (SVGElement | HTMLElement)[]): void => {
  for (const details of all) details.setAttribute('open', '');
};
