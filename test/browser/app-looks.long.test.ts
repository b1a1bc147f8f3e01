import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { paleTexts } from './app-page-contrast.ts';
import { appScene } from './app-scene.ts';
import { chromiumPath } from './browser.ts';

const phone = { viewport: { width: 360, height: 740 } };

/** Colors of the messenger's night theme. */
const night = { bg_color: '#17212b', secondary_bg_color: '#232e3c', text_color: '#f5f5f5', hint_color: '#708499' };
/** No text would be readable on these colors. */
const grey = { bg_color: '#808080', secondary_bg_color: '#8a8a8a' };

describe.skipIf(chromiumPath === undefined)('looks of the mini app', () => {
  const scene = appScene();
  const { open } = scene;
  const scheme = (page: Page): Promise<string | null> => page.locator('html').getAttribute('data-scheme');

  test.each(['en', 'ru'])('KEY-4 nothing is wider than a small screen in %s', async (language) => {
    scene.app.account.balance_usd = '123456789.012345678901';
    scene.app.account.available_usd = '123456789.012345678901';
    scene.app.usage = [
      { ...scene.app.usage[0], model: 'a-model-with-an-uncommonly-long-name-'.repeat(4) },
      ...scene.app.usage,
    ];
    await open({ language, ...phone }, async (page) => {
      const width = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth');
      expect(await width()).toBe(360);
      await page.locator('#spend summary').first().click();
      for (const client of await page.locator('#quickstart').getByRole('radio').all()) {
        await client.check();
        expect(await width()).toBe(360);
      }
      await page.locator('.rows summary').first().click();
      await page.locator('.rows summary').nth(1).click();
      await page.locator('#spend summary').nth(1).click();
      await page.locator('.key-sums li').first().waitFor();
      await page.locator('.keys > li').nth(1).getByRole('button').first().click();
      await page.locator('.key-form').waitFor();
      expect(await width()).toBe(360);
      expect(await page.evaluate(cutOff)).toEqual([]);
      await page.locator('#key .danger').click();
      await page.getByRole('dialog').locator('.danger').click();
      await page.locator('#new-key').waitFor();
      expect(await width()).toBe(360);
      // Nothing is cut off inside a card.
      expect(await page.evaluate(cutOff)).toEqual([]);
    });
  });

  test.each(['light', 'dark'] as const)('KEY-4 %s texts have enough contrast', async (colorScheme) => {
    await open({ colorScheme }, async (page) => {
      expect(await scheme(page)).toBe(colorScheme);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await page.locator('.key-sums li').first().waitFor();
      await page.locator('.keys > li').nth(1).getByRole('button').first().click();
      await page.locator('.key-form input').first().fill('');
      await page.locator('.key-form [type=submit]').click();
      expect(await paleTexts(page)).toEqual([]);
      await page.locator('#threshold').fill('?');
      await page.locator('#threshold').press('Enter');
      scene.app.refusals.set('/app/api/key', [{ status: 409, code: 'key_already_rotated' }]);
      await page.locator('#key .danger').click();
      expect(await paleTexts(page)).toEqual([]);
      await page.getByRole('dialog').locator('.danger').click();
      await page.locator('#key').getByRole('alert').waitFor();
      expect(await paleTexts(page)).toEqual([]);
    });
  });

  test('KEY-4 the theme follows the system, unless the messenger sets one', async () => {
    await open({ colorScheme: 'light' }, async (page) => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.locator('html[data-scheme=dark]').waitFor();
    });
    await open({ colorScheme: 'light', theme: night }, async (page) => {
      expect(await scheme(page)).toBe('dark');
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(35, 46, 60)');
      expect(await paleTexts(page)).toEqual([]);
    });
    await open({ colorScheme: 'dark', theme: grey }, async (page) => {
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).not.toBe('rgb(138, 138, 138)');
      expect(await paleTexts(page)).toEqual([]);
    });
  });

  test('KEY-4 all controls can be used with the keyboard alone', async () => {
    await open({}, async (page) => {
      const focused = (): Promise<string> =>
        page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent');
      const tabTo = async (name: string): Promise<void> => {
        for (let steps = 0; (await focused()) !== name; steps += 1) {
          if (steps > 90) throw new Error(`${name} cannot be reached by Tab`);
          await page.keyboard.press('Tab');
          expect(await page.evaluate(outlineOfFocused)).not.toBe('none');
        }
      };
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Skip to content');
      await tabTo('Refresh');
      await tabTo('Show more');
      await page.keyboard.press('Enter');
      await page.locator('.rows li').nth(19).waitFor();
      await tabTo('Replace the key');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      expect(await focused()).toBe('Cancel');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Replace');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused()).toBe('Replace the key');
    });
  });

  test('KEY-4 reduced motion turns animations off', async () => {
    const behaviour = 'getComputedStyle(document.documentElement).scrollBehavior';
    await open({ reducedMotion: 'reduce' }, async (page) => expect(await page.evaluate(behaviour)).toBe('auto'));
    await open({ reducedMotion: 'no-preference' }, async (page) =>
      expect(await page.evaluate(behaviour)).toBe('smooth'),
    );
  });
});

const cutOff = `[...document.querySelectorAll('main *')]
  .filter((element) => !element.closest('.unseen, svg') && element.getBoundingClientRect().right > 361)
  .map((element) => element.outerHTML.slice(0, 200))`;

/** The radio buttons are drawn by the label after them. */
const outlineOfFocused = `(() => {
  const focused = document.activeElement;
  return getComputedStyle(focused.type === 'radio' ? focused.nextElementSibling : focused).outlineStyle;
})()`;
