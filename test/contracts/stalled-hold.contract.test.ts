import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { placeHold } from '../../lambdas/core/ledger/hold.ts';
import type { LedgerPorts } from '../../lambdas/core/ledger/ledger-ports.ts';
import type { LedgerStore } from '../../lambdas/core/ledger/ledger-store.ts';
import { apply, commit } from '../../lambdas/core/ledger/resolve.ts';
import { createMoment, losesReply, withFaults } from '../support/memory/faults.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { expectBalanced, type LedgerSubject, ledgerSubjects } from './ledger-subjects.ts';

const LIFETIME_MS = 300_000;

describe.each(ledgerSubjects)('a stalled hold $name', ({ open }) => {
  let subject: LedgerSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  const portsOf = (store: LedgerStore, clock = new ManualClock()): LedgerPorts => ({
    store,
    outbox: new MemoryOutbox(),
    clock,
    random: () => 0,
    shortestLifetimeMs: LIFETIME_MS,
  });
  const account = async (accountId: string): Promise<void> => {
    await subject.store.createAccount(accountId);
    await subject.store.credit({ accountId, ref: 'first', amountPicos: 1_000n, reason: 'test', at: 0 });
  };
  const read = async (accountId: string) => {
    const found = await subject.store.readAccount(accountId);
    if (!found) throw new Error(`no ${accountId}`);
    expectBalanced(found);
    return found;
  };
  const settle = async (ports: LedgerPorts, accountId: string, holdId: string): Promise<void> => {
    const at = ports.clock.now();
    const settled = { accountId, holdId, requestId: 'r', outcome: 'settled', amountPicos: 70n, at } as const;
    expect(await commit(ports, settled)).toEqual(settled);
    await apply(ports, settled, 100n);
  };
  const order = (accountId: string, ports: LedgerPorts) => ({
    accountId,
    requestId: 'r',
    amountPicos: 100n,
    expiresAtMs: ports.clock.now() + LIFETIME_MS,
  });

  test('BILL-13 a first attempt that lands after its request was settled is closed by its record and charges nothing', async () => {
    await account('stalled');
    const late = createMoment();
    const store = withFaults(subject.store, { hold: [{ kind: 'lands-late', until: late.until }] });
    const clock = new ManualClock();
    const ports = portsOf(store, clock);

    const { holdId } = await placeHold(ports, order('stalled', ports));
    expect(holdId).toBe('r.1');
    await settle(ports, 'stalled', holdId);
    late.come();
    await store.landed();
    expect([...(await read('stalled')).holds.keys()]).toEqual(['r.0']);

    // Not even the request itself could settle it now.
    const again = {
      accountId: 'stalled',
      holdId: 'r.0',
      requestId: 'r',
      outcome: 'settled',
      amountPicos: 70n,
    } as const;
    expect(await commit(ports, { ...again, at: 5 })).toMatchObject({ outcome: 'released', reason: 'given_up' });
    await apply(ports, await commit(ports, { ...again, at: 5 }), 100n);
    expect(await read('stalled')).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
  });

  test('BILL-13 an attempt whose reply was lost is adopted and charged once', async () => {
    await account('adopted');
    const store = withFaults(subject.store, { hold: [losesReply] });
    const ports = portsOf(store);
    const { holdId } = await placeHold(ports, order('adopted', ports));
    expect(holdId).toBe('r.0');
    expect((await read('adopted')).holds.size).toBe(1);
    await settle(ports, 'adopted', holdId);
    expect(await read('adopted')).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
    expect(await subject.store.readRecord('adopted', 'r.1')).toBeUndefined();
  });
});
