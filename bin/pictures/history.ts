import { setTimeout as sleep } from 'node:timers/promises';
import { ulid } from 'ulid';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { openEmbedded } from '../stores.ts';

/** Id of the bot chat that the local page uses. */
const CHAT = '1001';
const DAY_MS = 86_400_000;
const DAYS = 28;

/** Requests of the month: model, maximum number per day, and price and usage of one request. */
const courses = [
  { model: 'claude-sonnet-5', aDay: 4, usd: '0.0612', usage: { input: 5_200, output: 3_380 } },
  { model: 'gpt-5.4', aDay: 5, usd: '0.04175', usage: { input: 4_700, output: 2_000 } },
  { model: 'gemini-3.8-flash', aDay: 6, usd: '0.00925', usage: { input: 9_000, output: 1_300 } },
  { model: 'flux-2-pro', aDay: 2, usd: '0.06', usage: { images: 2 } },
] as const;

/** Returns the number of requests on a day. Deterministic: two days of each week have none. */
const timesOn = (day: number, aDay: number): number => (day % 7 < 2 ? 0 : ((day * 7 + aDay * 3) % aDay) + 1);

/** Sends `/start` to the bot, and writes a month of requests of its account to the ledger. */
export const fillHistory = async (url: string, folder: string): Promise<void> => {
  await fetch(`${url}/local/say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: '/start', language: 'en' }),
  });
  const { accounts, ledger, close } = await openEmbedded(folder);
  let chat = await accounts.chat(CHAT);
  for (let tries = 0; !chat && tries < 50; tries += 1) {
    await sleep(100);
    chat = await accounts.chat(CHAT);
  }
  if (!chat) throw new Error('The bot did not open an account within 5 s.');
  const { accountId } = chat;
  for (let day = DAYS; day >= 0; day -= 1) {
    for (const { model, aDay, usd, usage } of courses) {
      for (let time = 0; time < timesOn(day, aDay); time += 1) {
        const at = Date.now() - day * DAY_MS - (time + 1) * 2_400_000;
        const requestId = ulid(at);
        const holdId = `${requestId}.0`;
        const amountPicos = parseUsd(usd);
        const isFailed = (day + time) % 11 === 3;
        const hold = { accountId, holdId, amountPicos, previousHoldId: undefined };
        await ledger.hold({ ...hold, expiresAtMs: at + DAY_MS * 60, sweepAtMs: at + DAY_MS * 60 });
        const record = { accountId, holdId, requestId, at, model };
        const settled = { ...record, outcome: 'settled', amountPicos, usage } as const;
        const released = { ...record, outcome: 'released', amountPicos: 0n, reason: 'upstream_error' } as const;
        const ended = isFailed ? released : settled;
        await ledger.putRecord(ended);
        await ledger.apply(ended, amountPicos, at);
      }
    }
  }
  await close();
};
