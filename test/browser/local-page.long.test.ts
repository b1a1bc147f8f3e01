import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { chromiumPath } from './browser.ts';
import { askInPlayground, readFacts } from './local-page-browser.ts';
import { useLocalPage } from './local-page-program.ts';

const dollars = (text: string | null | undefined): bigint => parseUsd(text?.replace(/^\+?\$/, '') ?? '');

describe.skipIf(chromiumPath === undefined)('the local page', () => {
  const program = useLocalPage();

  test('BILL-15 a response streams, and the ledger settles its hold with its cost', async () => {
    const page = program.page();
    const facts = await askInPlayground(page, 'Say hello [[pause 20]]');
    expect(facts.get('State')).toBe('done');
    expect(await page.locator('.answer-text').textContent()).not.toBe('');
    const row = page.locator(`.row[data-request="${facts.get('Request')}"]`);
    await row.and(page.locator('.settled')).waitFor();
    expect(await row.count()).toBe(1);
    expect(await row.locator('.amount').textContent()).toBe(facts.get('Cost'));
    const held = (await row.locator('.was').textContent())?.replace(/^of (\S+) held$/, '$1');
    expect(dollars(held)).toBeGreaterThan(dollars(facts.get('Cost')));
    const [balance, available, stillHeld] = (await page.locator('.sum dd').allTextContents()).map(dollars);
    expect(balance).toBe(available! + stillHeld!);
    await expect
      .poll(async () => (await readFacts(page)).get('Balance'))
      .toBe(`$${await balanceOf(program.url(), page)}`);
  });

  test('KEY-1 /start in the chat returns a working key, in the chosen language', async () => {
    const page = program.page();
    const chat = page.getByRole('region', { name: 'Bot' });
    await chat.getByRole('button', { name: '/start', exact: true }).first().click();
    const told = chat.locator('.message.bot code').filter({ hasText: /^sk-service-\w{49}$/ });
    const key = await told.first().textContent();
    const response = await fetch(`${program.url()}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(response.status).toBe(200);
    await chat.getByLabel('Language of the user').selectOption('ru');
    await chat.getByRole('button', { name: '/balance', exact: true }).first().click();
    await chat.locator('.message.bot').filter({ hasText: 'Баланс' }).waitFor();
  });

  test('KEY-4 the button of /key opens the mini app for its user', async () => {
    const page = program.page();
    const chat = page.getByRole('region', { name: 'Bot' });
    await chat.getByRole('button', { name: '/key', exact: true }).first().click();
    const message = chat.locator('.message.bot').filter({ hasText: 'sk-service-' }).last();
    await message.locator('.buttons button').first().click();
    // The app removes its init data from its own URL, but the frame still has it.
    const opened = (await page.locator('iframe[title="Mini app"]').getAttribute('src')) ?? '';
    const initData = new URLSearchParams(new URL(opened, program.url()).hash.slice(1)).get('tgWebAppData');
    await page
      .frameLocator('iframe[title="Mini app"]')
      .getByRole('heading', { name: /Balance|Баланс/ })
      .waitFor();
    const response = await fetch(`${program.url()}/app/api/account`, { headers: { authorization: `tma ${initData}` } });
    expect(response.status).toBe(200);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  });

  test('BILL-9 a broken provider causes a 502 and a released hold, and works after its repair', async () => {
    const page = program.page();
    const works = page.getByRole('switch', { name: 'OpenAI works' });
    await works.click();
    await works.and(page.locator('[aria-checked="false"]')).waitFor();
    const facts = await askInPlayground(page, 'Say hello');
    expect([facts.get('State'), facts.get('Status')]).toEqual(['failed', '502']);
    expect(await page.getByRole('alert').textContent()).toContain('upstream_error');
    const row = page.locator(`.row.released[data-request="${facts.get('Request')}"]`);
    await row.waitFor();
    expect(await row.locator('.amount').textContent()).toBe('$0');
    await works.click();
    await works.and(page.locator('[aria-checked="true"]')).waitFor();
    expect((await askInPlayground(page, 'Say hello')).get('State')).toBe('done');
  });

  test('KEY-6 a payment that is reported from the page credits the account', async () => {
    const page = program.page();
    const ledger = page.getByRole('region', { name: 'Ledger' });
    await ledger.getByLabel('Top up by').fill('2.5');
    await ledger.getByRole('button', { name: 'Pay' }).click();
    await ledger.locator('.row.credited').filter({ hasText: '+$2.5' }).waitFor();
    await ledger.getByLabel('Top up by').fill('nothing');
    await ledger.getByRole('button', { name: 'Pay' }).click();
    await ledger.getByRole('status').filter({ hasText: 'amount_usd' }).waitFor();
  });
});

async function balanceOf(url: string, page: Page): Promise<string> {
  const key = await page.getByLabel('API key', { exact: true }).inputValue();
  const response = await fetch(`${url}/api/account`, { headers: { authorization: `Bearer ${key}` } });
  const { balance_usd } = await response.json();
  return balance_usd;
}
