import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { askInPlayground, openMode } from './local-page-browser.ts';
import { type PageProgram, useLocalPage } from './local-page-program.ts';

const inboxOf = (page: Page) => page.getByRole('region', { name: 'Webhook inbox' });
const deliveriesOf = (page: Page) => inboxOf(page).locator('.delivery');
const answerField = (page: Page) => inboxOf(page).getByLabel('Respond to the next deliveries with');

/** Chooses the response, and waits until the program has confirmed it. */
const answerWith = async (page: Page, answer: string): Promise<void> => {
  const confirmed = page.waitForResponse((response) => response.url().endsWith('/local/webhooks/answer'));
  await answerField(page).selectOption(answer);
  await confirmed;
};

const sendTest = (page: Page) => inboxOf(page).getByRole('button', { name: 'Send test event' }).click();

const createVideo = async (program: PageProgram): Promise<string> => {
  const page = program.page();
  const key = await page.getByLabel('API key', { exact: true }).inputValue();
  const webhook_url = await inboxOf(page).getByLabel('URL', { exact: true }).inputValue();
  const response = await fetch(`${program.url()}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'seedance-2-0-fast', prompt: 'A boat [[takes 100]]', seconds: '4', webhook_url }),
  });
  expect(response.status).toBe(200);
  return (await response.json()).id;
};

describe.skipIf(chromiumPath === undefined)('the webhook inbox of the local page', () => {
  const program = useLocalPage({ VIDEO_WEBHOOK_RETRY_SECONDS: '1' });
  beforeEach(async () => {
    const headers = { 'content-type': 'application/json' };
    const reset = (path: string, body: string) => fetch(`${program.url()}${path}`, { method: 'POST', headers, body });
    await reset('/local/webhooks/answer', '{"answer":"200"}');
    await reset('/local/webhooks/clear', '{}');
    await deliveriesOf(program.page()).first().waitFor({ state: 'detached' });
  });

  test('HOOK-4 a test event appears with its headers, its body and a valid signature', async () => {
    const page = program.page();
    await sendTest(page);
    const delivery = deliveriesOf(page).first();
    await delivery.locator('summary .valid').waitFor();
    expect(await delivery.locator('summary').textContent()).toMatch(/webhook\.testattempt 1returned 200valid$/);
    await inboxOf(page)
      .getByRole('status')
      .filter({ hasText: /^Delivered in \d+ ms\.$/ })
      .waitFor();
    await delivery.locator('summary').click();
    expect(await delivery.locator('.checks .valid').allTextContents()).toEqual(['valid', 'valid']);
    expect(await delivery.locator('.headers dt').allTextContents()).toContain('webhook-signature');
    const body = JSON.parse((await delivery.locator('pre').textContent()) ?? '');
    expect([body.type, body.id]).toEqual(['webhook.test', await delivery.getAttribute('data-id')]);
  });

  test('HOOK-4 another secret shows that the signature is wrong, until the key reads the secret again', async () => {
    const page = program.page();
    await sendTest(page);
    const verdict = deliveriesOf(page).first().locator('summary .verdict');
    await verdict.and(page.locator('.valid')).waitFor();
    const secret = await inboxOf(page).getByLabel('Signing secret').inputValue();
    await inboxOf(page).getByLabel('Signing secret').fill('whsec_AAAA');
    await verdict.filter({ hasText: 'wrong secret' }).waitFor();
    await inboxOf(page).getByLabel('Signing secret').fill('AAAA');
    await verdict.filter({ hasText: 'not checked' }).waitFor();
    expect(await inboxOf(page).getByRole('alert').textContent()).toContain('Secret: must be whsec_');
    await inboxOf(page).getByRole('button', { name: 'Read with the key' }).click();
    await verdict.and(page.locator('.valid')).waitFor();
    expect(await inboxOf(page).getByLabel('Signing secret').inputValue()).toBe(secret);
  });

  test('HOOK-4 a delivery without a signature or with an old timestamp is shown as such', async () => {
    const page = program.page();
    const deliver = (headers: Record<string, string>) =>
      fetch(`${program.url()}/local/webhooks/inbox`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    await deliver({});
    await deliveriesOf(page).locator('summary .verdict').filter({ hasText: 'missing' }).waitFor();
    await sendTest(page);
    const genuine = deliveriesOf(page).first();
    await genuine.locator('summary .valid').waitFor();
    await genuine.locator('summary').click();
    const secret = await inboxOf(page).getByLabel('Signing secret').inputValue();
    const { createHmac } = await import('node:crypto');
    const old = String(Math.floor(Date.now() / 1_000) - 600);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`evt_old.${old}.{}`).digest('base64');
    await deliver({ 'webhook-id': 'evt_old', 'webhook-timestamp': old, 'webhook-signature': `v1,${signature}` });
    await page
      .locator('.delivery[data-id="evt_old"] summary .verdict')
      .filter({ hasText: 'timestamp too old' })
      .waitFor();
  });

  test('HOOK-4 a video that gets 500 is delivered again with the same id', async () => {
    const page = program.page();
    await answerWith(page, '500');
    const id = `evt_${await createVideo(program)}`;
    const attempt = (count: number) => page.locator(`.delivery[data-id="${id}"][data-attempt="${count}"]`);
    await attempt(1).locator('.answered').filter({ hasText: 'returned 500' }).waitFor();
    await answerWith(page, '200');
    await page.locator(`.delivery[data-id="${id}"] .answered`).filter({ hasText: 'returned 200' }).waitFor();
    expect(await page.locator(`.delivery[data-id="${id}"]`).count()).toBeGreaterThan(1);
    await attempt(2).locator('summary .valid').waitFor();
    expect(await attempt(2).locator('.type').textContent()).toBe('video.completed');
  });

  test('HOOK-4 a video of the playground sends its webhook to the inbox only if the user checks the box', async () => {
    const page = program.page();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: program.url() });
    const panel = await openMode(page, 'Video');
    const copied = async (): Promise<string> => {
      await panel.getByRole('button', { name: /^Copy as curl/ }).click();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied()).not.toContain('webhook_url');
    await askInPlayground(page, 'A boat [[takes 100]]');
    await panel.getByLabel('Send the webhook to the inbox below').check();
    expect(await copied()).toContain(`"webhook_url":"${program.url()}/local/webhooks/inbox"`);
    await askInPlayground(page, 'A boat [[takes 100]]');
    const id = await panel.locator('.job code').textContent();
    await page.locator(`.delivery[data-id="evt_${id}"] summary .valid`).waitFor();
    expect(await deliveriesOf(page).count()).toBe(1);
  });

  test('HOOK-4 a test event without a response is listed while the gateway waits', async () => {
    const page = program.page();
    await answerWith(page, 'timeout');
    await sendTest(page);
    await deliveriesOf(page).first().locator('.answered').filter({ hasText: 'no response' }).waitFor();
    const late = 'Not delivered: the server did not respond in time.';
    await inboxOf(page).getByRole('status').filter({ hasText: late }).waitFor();
    await inboxOf(page).getByRole('button', { name: 'Clear' }).click();
    await deliveriesOf(page).first().waitFor({ state: 'detached' });
  });

  test.each([
    { width: 1024, height: 768 },
    { width: 1280, height: 800 },
    { width: 1920, height: 1080 },
  ])('HOOK-4 the card of the inbox encloses its content at $width x $height', async (size) => {
    const page = program.page();
    await page.setViewportSize(size);
    await sendTest(page);
    await deliveriesOf(page).first().waitFor();
    const card = await inboxOf(page).evaluate((element) => element.getBoundingClientRect().toJSON());
    const last = await inboxOf(page).evaluate((element) => element.lastElementChild?.getBoundingClientRect().toJSON());
    expect(last.height).toBeGreaterThan(0);
    expect(card.bottom).toBeGreaterThanOrEqual(last.bottom);
  });

  test('HOOK-4 the inbox has its URL, and the setting for other servers of this machine', async () => {
    const page = program.page();
    expect(await inboxOf(page).getByLabel('URL', { exact: true }).inputValue()).toBe(
      `${program.url()}/local/webhooks/inbox`,
    );
    expect(await inboxOf(page).textContent()).toContain('LOCAL_WEBHOOKS=on npm start');
  });
});
