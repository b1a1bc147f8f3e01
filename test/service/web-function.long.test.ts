import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { balanceOf, heldOf } from '../../lambdas/core/ledger/ledger.ts';
import { BODIES_AT_ONCE, BODY_BYTES_MAX } from '../../lambdas/limits.ts';
import { routes } from '../../lambdas/routes.ts';
import { inferenceFunctionNames } from '../../lib/inference-functions.ts';
import { LASTING_MODEL, postChat, readEvents, saying } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { withImage } from '../support/hostile-bodies.ts';
import { ask } from '../support/hostile-wire.ts';
import { startWebFunctionProcess, type WebFunctionProcess } from './web-function-process.ts';

const GIBIBYTE = 1024 ** 3;
/** Only a hang exceeds this limit. */
const LIMIT_MS = 100_000;

/** Any error shape (GEN-3). Google's has the code as the reason of its first detail. */
const errorSchema = z.object({
  error: z.union([
    z.object({ code: z.string() }).transform(({ code }) => code),
    z.object({ details: z.tuple([z.object({ reason: z.string() })]) }).transform(({ details: [{ reason }] }) => reason),
  ]),
});

const running: WebFunctionProcess[] = [];
afterEach(async () => {
  for (const web of running.splice(0)) await web.stop();
});

const start = async (environment: Readonly<Record<string, string>> = {}): Promise<WebFunctionProcess> => {
  const web = await startWebFunctionProcess(environment);
  running.push(web);
  return web;
};

const fundsOf = async (web: WebFunctionProcess) => {
  const account = await web.account();
  if (!account) throw new Error('the account does not exist');
  return { balance: balanceOf(account), held: heldOf(account), holds: account.holds.size };
};

test('GEN-14 the Web Function serves 8 concurrent bodies of 20 MiB of 4 accounts within one GiB', async () => {
  const web = await start();
  const before = await fundsOf(web);
  const gate = web.vendor.gate();
  // Two bodies fit into the quarter of an account and of its client IP.
  const apiKeys = [web.apiKey, await web.issue('100'), await web.issue('100'), await web.issue('100')];
  const replies = Array.from({ length: BODIES_AT_ONCE }, (_, index) => {
    const client = index % apiKeys.length;
    const headers = [`authorization: Bearer ${apiKeys[client]}`, `x-forwarded-for: 203.0.113.${client}`];
    return ask(
      web.port,
      { method: 'POST', target: '/v1/chat/completions', headers, body: withImage(BODY_BYTES_MAX) },
      LIMIT_MS,
    );
  });
  // The provider has read all of them, and no request has ended.
  await gate.waitFor(BODIES_AT_ONCE);
  gate.open();
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(BODIES_AT_ONCE).fill(200));
  console.log(`8 bodies of 20 MiB: ${Math.round(web.peakBytes() / 1024 ** 2)} MiB at most`);
  expect(web.peakBytes()).toBeLessThan(GIBIBYTE);
  const after = await fundsOf(web);
  expect(after).toMatchObject({ held: 0n, holds: 0 });
  expect(after.balance).toBeLessThan(before.balance);
});

test('GEN-1 the Web Function serves exactly the routes of inference', async () => {
  const web = await start();
  const inference: readonly string[] = inferenceFunctionNames;
  for (const { method, path, function: owner } of Object.values(routes)) {
    const answer = await fetch(`${web.url}${path.replace(/\{\w+\}/g, 'some-id')}`, { method });
    const { error: code } = errorSchema.parse(await answer.json());
    expect(code, `${method} ${path}`).toBe(inference.includes(owner) ? 'missing_api_key' : 'not_found');
  }
});

test('BILL-13 SIGTERM during a stream ends the Web Function; the sweeper releases the hold', async () => {
  const web = await start({ UPSTREAM_DEADLINE_SECONDS: '10', HOLD_GRACE_SECONDS: '1' });
  const before = await fundsOf(web);
  web.vendor.next({ stallAfter: 3 });
  const answer = await postChat({ ...web, model: LASTING_MODEL }, { messages: saying('hello'), stream: true });
  const events = readEvents(answer);
  expect((await events.next()).done).toBe(false);
  expect((await fundsOf(web)).holds).toBe(1);

  const code = web.kill('SIGTERM');
  const rest = Array.fromAsync(events).catch(() => 'cut off');
  expect(await code).toBe(0);
  expect(await rest).toBe('cut off');
  expect(web.output.stderr).toBe('');
  // New requests are rejected.
  await expect(fetch(`${web.url}/nowhere`)).rejects.toThrow();

  const after = await until('the end of the hold', async () => {
    await web.sweep();
    const now = await fundsOf(web);
    return now.holds === 0 ? now : undefined;
  });
  expect(after).toEqual(before);
});
