import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { newKey } from './app-page.ts';
import { appScene } from './app-scene.ts';
import { chromiumPath } from './browser.ts';

describe.skipIf(chromiumPath === undefined)('rotation in the mini app', () => {
  const scene = appScene();
  const open = (look: (page: Page) => Promise<void>): Promise<void> => scene.open({}, look);

  const rotate = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Replace the key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
  };

  test('KEY-4 a new key is shown once, after a confirmation', async () => {
    await open(async (page) => {
      await rotate(page);
      await page.getByText(newKey).waitFor();
      expect(scene.app.posted).toEqual([{ key_id: 'key-1' }]);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.evaluate('document.activeElement.textContent')).toContain(newKey);
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(newKey);
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByText(newKey).waitFor();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByText('sk-service-N3wN…3456').waitFor();
      expect(await page.content()).not.toContain(newKey);
    });
  });

  test('KEY-4 a canceled rotation replaces nothing', async () => {
    await open(async (page) => {
      await page.getByRole('button', { name: 'Replace the key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Replace the key' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(scene.app.posted).toEqual([]);
    });
  });

  test('KEY-4 a running rotation is sent once and cannot be canceled', async () => {
    const { promise, resolve: pass } = Promise.withResolvers<void>();
    scene.app.gates.set('/app/api/key', promise);
    await open(async (page) => {
      await rotate(page);
      await page.getByRole('button', { name: 'Replacing…' }).click({ force: true });
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      pass();
      await page.getByText(newKey).waitFor();
      expect(scene.app.posted).toEqual([{ key_id: 'key-1' }]);
    });
  });

  test.each([
    { status: 409, code: 'key_already_rotated', message: 'The key was replaced meanwhile' },
    { status: 401, code: 'invalid_signature', message: 'open it again from the bot' },
    { status: 503, code: 'service_unavailable', message: 'It is unknown whether the key was replaced' },
    { status: 500, code: 'internal_error', message: 'It is unknown whether the key was replaced' },
    { status: 429, code: 'rate_limit_exceeded', message: 'Too many requests' },
    { status: 403, code: 'account_blocked', message: 'This account is blocked' },
  ])('KEY-4 $status $code is shown, and the account is loaded again', async ({ status, code, message }) => {
    scene.app.refusals.set('/app/api/key', [{ status, code }]);
    await open(async (page) => {
      scene.app.account.key = { ...scene.app.account.key!, id: 'key-9', masked: 'sk-service-Z9Z9…9999' };
      await rotate(page);
      await page.getByRole('alert').getByText(message).waitFor();
      await page.getByText('sk-service-Z9Z9…9999').waitFor();
      expect(scene.app.asked.filter((asked) => asked === 'POST /app/api/key')).toHaveLength(1);
      await rotate(page);
      await page.getByText(newKey).waitFor();
      expect(scene.app.posted.at(-1)).toEqual({ key_id: 'key-9' });
    });
  });

  test('KEY-4 the app states that an account has no key, or that its key is revoked', async () => {
    scene.app.account.key = null;
    await open(async (page) => {
      await page.getByText('There is no key.').waitFor();
      scene.app.account.key = {
        id: 'key-1',
        masked: 'sk-service-AbCd…wxyz',
        issued_at: '2026-11-02T09:30:00Z',
        revoked: true,
      };
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByText('This key is revoked.').waitFor();
    });
  });
});
