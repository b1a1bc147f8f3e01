import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Simulator } from '../../local/simulators/server.ts';
import {
  callModel,
  expectOpen,
  FAILS,
  isOpen,
  openAt,
  spentOf,
  type Told,
  untilHalfOpen,
  untilOpen,
  withReserve,
} from '../support/circuit-calls.ts';
import { until, within } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { randomRuns } from '../support/random-runs.ts';
import type { GroupAccount, ServerGroup } from '../support/server-group.ts';
import { type CircuitGroup, startCircuitGroup } from './circuit-group.ts';

/** Three servers whose circuits stay open for 30 s, and a last one with one second. Each test has its own models. */
let servers: readonly TestProgram[];
let hasty: TestProgram;
let all: CircuitGroup | undefined;
let vendor: Simulator;
let group: ServerGroup;
let one: GroupAccount;
let other: GroupAccount;
let third: GroupAccount;

beforeAll(async () => {
  all = await startCircuitGroup([{}, {}, {}, { CIRCUIT_OPEN_SECONDS: '1' }]);
  servers = all.servers.slice(0, 3);
  hasty = all.servers[3]!;
  ({ vendor, group, one, other, third } = all);
}, 120_000);
afterAll(() => all?.stop());
beforeEach(() => vendor.reset());

const both = (): readonly GroupAccount[] => [one, other];

describe('half-open circuit', () => {
  /** Sends `size` concurrent calls. Lets the provider respond after the circuit has rejected the others. */
  const crowd = async (model: string, size: number, words = 'hello'): Promise<readonly Told[]> => {
    vendor.reset();
    const gate = vendor.gate();
    let ended = 0;
    const calls = Array.from({ length: size }, async (_, index) => {
      const told = await callModel(hasty, both()[index % 2]!, model, words);
      ended += 1;
      return told;
    });
    await within('the probe to reach the provider', gate.waitFor(1));
    await until('all other calls', () => (ended >= size - 1 ? true : undefined));
    expect(gate.arrived()).toBe(1);
    gate.open();
    return Promise.all(calls);
  };

  test('FALL-1 FALL-5 one of 20 concurrent requests is the probe; 3 successes close the circuit', async () => {
    const model = 'claude-opus-5-5';
    await openAt(hasty, model, both());
    await untilHalfOpen(hasty, one, model);
    for (let probe = 1; probe <= 3; probe += 1) {
      const told = await crowd(model, 20);
      expect(told.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const each of told) if (each.status !== 200) expectOpen(each, 300);
    }
    vendor.reset();
    const gate = vendor.gate();
    const calls = Array.from({ length: 20 }, () => callModel(hasty, one, model, 'hello'));
    await within('all requests to reach the provider', gate.waitFor(20));
    gate.open();
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    for (const account of both()) await spentOf(group, account);
  });

  test('FALL-1 a failed probe opens the circuit again', async () => {
    const model = 'claude-haiku-4-5';
    await openAt(hasty, model, both());
    await untilHalfOpen(hasty, one, model);
    const before = Date.now();
    const told = await crowd(model, 20, FAILS);
    // The circuit stays open for two seconds now. The unit test with a fake clock checks the exact times.
    const shut = await isOpen(hasty, one, model);
    if (Date.now() - before < 2_000) expect(shut).toBe(true);
    expect(told.map(({ status }) => status).toSorted()).toEqual([502, ...Array(19).fill(503)]);
    await untilHalfOpen(hasty, one, model);
    expect((await callModel(hasty, one, model, 'hello')).status).toBe(200);
  });

  test('FALL-1 FALL-3 requests without the probe use their fallback model, with a new hold', async () => {
    const [model, reserve] = ['claude-opus-4-8', 'claude-haiku-5-5'] as const;
    await openAt(hasty, model, both());
    await untilHalfOpen(hasty, one, model);
    vendor.reset();
    const gate = vendor.gate();
    const calls = Array.from({ length: 10 }, () => callModel(hasty, third, model, 'hello', withReserve(reserve)));
    await within('all requests to reach the provider', gate.waitFor(10));
    gate.open();
    const told = await Promise.all(calls);
    const used = told.map(({ status, headers }) => `${status} ${headers.get('x-service-model-used')}`).toSorted();
    expect(used).toEqual([...Array(9).fill(`200 ${reserve}`), '200 null']);
    await spentOf(group, third);
    expect(await group.audit(third.accountId)).toMatchObject({ openHolds: 0, findings: [] });
  });
});

describe('three processes on one store', () => {
  /** At most three consecutive failures per process. More would open the circuit of that process alone. */
  const series = async (model: string, plan: readonly (readonly [at: number, accounts: readonly GroupAccount[]])[]) => {
    for (const [at, accounts] of plan) {
      for (const [index, words] of [FAILS, FAILS, FAILS, 'hello'].entries()) {
        await callModel(servers[at]!, accounts[index % accounts.length]!, model, words);
      }
    }
  };

  test.for([
    ['gemini-3.1-pro-preview', 'in one process', [0, 0, 0]],
    ['gpt-6-luna', 'in two processes', [0, 1, 0, 1]],
  ] as const)('FALL-1 with %s, failures of two accounts %s open the circuit in all three', async ([model, _, at]) => {
    expect(await Promise.all(servers.map((each) => isOpen(each, third, model)))).toEqual([false, false, false]);
    await series(
      model,
      at.map((index) => [index, both()] as const),
    );
    await Promise.all(servers.map((each) => untilOpen(each, third, model)));
    const calls = vendor.requests.length;
    for (const each of servers) expectOpen(await callModel(each, third, model, 'hello'));
    expect(vendor.requests).toHaveLength(calls);
  });

  test('FALL-1 failures of one account never open the shared circuit', async () => {
    const model = 'gpt-5.6-luna';
    await series(
      model,
      [0, 1, 2, 0, 1, 2, 0, 1, 2].map((index) => [index, [one]] as const),
    );
    await callModel(servers[0]!, other, model, 'hello');
    expect(vendor.requests).toHaveLength(37);
    for (const each of servers) expect(await isOpen(each, third, model)).toBe(false);
    for (const each of servers) expect((await callModel(each, third, model, 'hello')).status).toBe(200);
  });

  const { numRuns: rounds } = randomRuns(import.meta.filename, { quick: 1, long: 1 });
  const calls = 450 * rounds;

  test(`FALL-1 six failures of two accounts in ${calls} calls never open the shared circuit`, async () => {
    const model = 'gemini-3.5-flash-lite';
    const flood = async (at: TestProgram): Promise<readonly number[]> => {
      const plan = Array.from({ length: calls / servers.length }, (_, index) => index === 40 || index === 42);
      const left = plan.values();
      const seen: number[] = [];
      const worker = async (account: GroupAccount): Promise<void> => {
        for (const fails of left) seen.push((await callModel(at, account, model, fails ? FAILS : 'hello')).status);
      };
      await Promise.all([...both(), ...both(), ...both(), ...both()].map(worker));
      return seen;
    };
    const seen = (await Promise.all(servers.map(flood))).flat();
    expect(seen.filter((status) => status === 502)).toHaveLength(6);
    expect(seen.filter((status) => status === 200)).toHaveLength(calls - 6);
    for (const each of servers) expect(await isOpen(each, third, model)).toBe(false);
  });
});
