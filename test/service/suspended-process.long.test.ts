import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSimulator } from '../../local/simulators/server.ts';
import { callModel } from '../support/circuit-calls.ts';
import { within } from '../support/gateway-process.ts';
import { startServerGroup } from '../support/server-group.ts';

const MODEL = 'gpt-4.1-mini';
/** Longer than the deadline of a call. */
const STOPPED_MS = 6_000;

test('FALL-1 calls in flight while the process was suspended leave the circuit closed', async () => {
  const vendor = await startSimulator();
  const group = await startServerGroup();
  try {
    const environment = { CIRCUIT_FAILURES: '5', CIRCUIT_CALLS: '10', UPSTREAM_DEADLINE_SECONDS: '3' };
    const server = await group.start({ vendorUrl: vendor.url, environment });
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    const accounts = await Promise.all(names.map((name) => group.openAccount(name, 100_000_000_000_000n)));
    const [first] = accounts;
    if (!first) throw new Error('an account is missing');
    const gate = vendor.gate();
    // Half of the calls end by the deadline, the other half because the provider breaks their connections.
    const calls = accounts.flatMap((account) =>
      ['hello', '[[reset]]'].map((words) => callModel(server, account, MODEL, words)),
    );
    await within('the calls at the provider', gate.waitFor(calls.length));
    process.kill(server.pid, 'SIGSTOP');
    await sleep(STOPPED_MS / 2);
    vendor.reset();
    await sleep(STOPPED_MS / 2);
    process.kill(server.pid, 'SIGCONT');
    const ended = await Promise.all(calls);
    expect(ended.filter(({ status }) => status === 504 || status === 502).length).toBeGreaterThanOrEqual(5);
    expect((await callModel(server, first, MODEL, 'hello')).status).toBe(200);
    expect(server.output()).not.toContain('circuit_opened');
  } finally {
    await group.stop();
    await vendor.stop();
  }
});
