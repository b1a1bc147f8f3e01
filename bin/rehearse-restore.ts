import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { balanceOf, type OutboxEntry } from '../lambdas/core/ledger/ledger.ts';
import { type OutboxHistory, replayOutbox } from '../lambdas/core/ledger/replay.ts';
import { formatUsd, parseUsd } from '../lambdas/core/money/usd.ts';
import { newRequestId, systemClock } from '../lambdas/functions/wiring/ledger.ts';
import { localTableNames } from '../local/create-tables.ts';
import { type CopiedItems, exportTables, restoreTables } from '../local/table-copies.ts';
import { whyOf } from './exit.ts';
import { type RunningGateway, restoredNames, START_BALANCE_USD, startGateway } from './rehearsal/gateway-under-test.ts';
import { onStores, runCommand } from './rehearsal/operator.ts';
import { chat, health, type Reply, sendLoad } from './rehearsal/traffic.ts';
import { createTranscript, expectEqual, seconds, until } from './rehearsal/transcript.ts';
import type { Stores } from './stores.ts';
import { steady } from './with-retries.ts';

const LOAD = 200;
/** Account that the local gateway opens. */
const ACCOUNT_ID = 'local';
/** Waits long enough for the maintenance switch to change while the request runs. */
const SLOW_PROMPT = '[[delay 3000]] a request that runs when maintenance starts';

const folder = mkdtempSync(join(tmpdir(), 'rehearse-restore-'));
const dataFolder = join(folder, 'data');
const copies = join(folder, 'export');
const { step, line } = createTranscript((text) => process.stdout.write(text));
const endings: (() => Promise<void>)[] = [];

const placeOf = ({ endpoint }: RunningGateway, names = localTableNames) => ({ endpoint, folder: dataFolder, names });

const sumOf = (replies: readonly Reply[]): bigint =>
  replies.reduce((sum, { costUsd }) => sum + parseUsd(costUsd ?? '0'), 0n);

const countsOf = ({ accounts, keys, videos }: CopiedItems): string =>
  `${accounts} items of accounts, ${keys} of keys, ${videos} of videos`;

/** Bucket emulators keep no versions, so the rehearsal keeps the entry as a versioned bucket does. */
const historyOf = (entry: OutboxEntry): OutboxHistory => ({
  since: async function* () {
    yield { entry, isWaiting: false };
  },
});

/** Charge of a request whose response is sent and whose charge is not recorded yet. */
const CHARGED_PICOS = 400_000n;
const HELD_PICOS = 1_000_000n;
const HOUR_MS = 3_600_000;

/** Places the hold of a request. Returns the outbox entry that its charge becomes if the table does not confirm it. */
const placeHold = async (stores: Stores) => {
  const requestId = newRequestId();
  const holdId = `${requestId}.0`;
  const expiresAtMs = systemClock.now() + HOUR_MS;
  const hold = { amountPicos: HELD_PICOS, expiresAtMs, sweepAtMs: expiresAtMs, previousHoldId: undefined };
  const { kind } = await stores.ledger.hold({ accountId: ACCOUNT_ID, holdId, ...hold });
  if (kind !== 'held') throw new Error(`The hold was not placed: ${kind}.`);
  const record = { accountId: ACCOUNT_ID, holdId, requestId, amountPicos: CHARGED_PICOS, at: systemClock.now() };
  return { record: { ...record, outcome: 'settled' as const }, holdAmountPicos: HELD_PICOS };
};

const setMaintenance = async (gateway: RunningGateway, command: 'on' | 'pause' | 'off'): Promise<string> => {
  const { exitCode, result } = await runCommand(placeOf(gateway), 'maintenance', command, '--yes');
  expectEqual('exit code', exitCode, 0);
  return result.replaceAll(/\s+/g, ' ');
};

/** Waits until the gateway rejects requests, and checks the response. */
const untilRejected = async ({ customer }: RunningGateway): Promise<string> => {
  let reply: Reply | undefined;
  await until('a rejected request', async () => {
    reply = await chat(customer, 'a request during maintenance');
    return reply.status === 503;
  });
  expectEqual('retry-after', reply?.retryAfter, '300');
  expectEqual('health', await health(customer), '200 {"status":"maintenance"}');
  return `503, retry-after 300, "${reply?.message}"; health is ${await health(customer)}`;
};

const audit = async (gateway: RunningGateway, names = localTableNames): Promise<{ ok: boolean; last: string }> => {
  const { exitCode, result } = await runCommand(placeOf(gateway, names), 'audit', '--table', names.accounts);
  return { ok: exitCode === 0, last: result.split('\n').at(-1) ?? '' };
};

const auditOk = async (gateway: RunningGateway): Promise<string> => {
  const { ok, last } = await audit(gateway, restoredNames);
  expectEqual('audit', ok, true);
  return last;
};

const balanceAt = (gateway: RunningGateway, names = localTableNames): Promise<bigint> =>
  onStores(placeOf(gateway, names), async ({ ledger }) => {
    const account = await ledger.readAccount(ACCOUNT_ID);
    if (!account) throw new Error(`${ACCOUNT_ID}: the account is missing.`);
    return balanceOf(account);
  });

/** A record without a hold, as a faulty program could write it. */
const damage = (gateway: RunningGateway): Promise<unknown> =>
  onStores(placeOf(gateway), ({ ledger }) =>
    ledger.putRecord({
      accountId: ACCOUNT_ID,
      holdId: '01K00000000000000000000000.0',
      requestId: '01K00000000000000000000000',
      outcome: 'settled',
      amountPicos: 5_000_000_000n,
      at: steady.clock.now(),
    }),
  );

const untilNotices = (gateway: RunningGateway, from: number, words: readonly string[]): Promise<void> =>
  until(words.join(' and '), () => words.every((word) => gateway.log().slice(from).includes(word)));

/** Facts that later steps need. */
interface Rehearsal {
  gateway: RunningGateway;
  /** Charges before the restore point, which the restored tables have. */
  kept: readonly Reply[];
  /** Charges that the restore undoes. */
  lost: readonly Reply[];
  /** Charges on the restored tables. */
  after: readonly Reply[];
  entry: OutboxEntry | undefined;
}

/** Makes charges before and after the restore point, and then a failure. Returns the time between both in ms. */
const loadAndFail = async (run: Rehearsal): Promise<number> => {
  const { gateway } = run;
  await step('load', async () => {
    run.kept = await sendLoad(gateway.customer, LOAD);
    return `${run.kept.length} requests charged ${formatUsd(sumOf(run.kept))} USD`;
  });
  await step('running request', async () => {
    run.entry = await onStores(placeOf(gateway), placeHold);
    return 'its hold is open';
  });
  await step('export, the restore point', async () => countsOf(await exportTables(gateway.endpoint, copies)));
  const pointAtMs = performance.now();
  await step('load after the restore point', async () => {
    run.lost = await sendLoad(gateway.customer, LOAD);
    return `${run.lost.length} requests charged ${formatUsd(sumOf(run.lost))} USD`;
  });
  await step('outbox', async () => {
    const from = gateway.log().length;
    await onStores(placeOf(gateway), ({ outbox }) => outbox.put(entryOf(run)));
    await untilNotices(gateway, from, ['notes_settled']);
    return `the worker charged the running request ${formatUsd(CHARGED_PICOS)} USD and removed its entry`;
  });
  await step('failure', async () => {
    await damage(gateway);
    const { ok, last } = await audit(gateway);
    expectEqual('audit', ok, false);
    return `a faulty write; the audit reports ${last}`;
  });
  return performance.now() - pointAtMs;
};

const entryOf = ({ entry }: Rehearsal): OutboxEntry => {
  if (!entry) throw new Error('The request has no hold.');
  return entry;
};

const stopWork = async (run: Rehearsal): Promise<void> => {
  const { gateway } = run;
  const slow = chat(gateway.customer, SLOW_PROMPT);
  await step('maintenance on', () => setMaintenance(gateway, 'on'));
  await step('new requests', () => untilRejected(gateway));
  await step('running requests', async () => {
    const reply = await slow;
    expectEqual('status', reply.status, 200);
    run.lost = [...run.lost, reply];
    return `the last one ended with 200 and cost ${reply.costUsd} USD`;
  });
  await step('workers', async () => {
    const from = gateway.log().length;
    await setMaintenance(gateway, 'pause');
    await untilNotices(gateway, from, ['"worker":"sweep"', '"worker":"outbox"', '"worker":"videoSweep"']);
    return 'sweep, outbox and videoSweep report that they are paused';
  });
};

/** Returns the duration of the restore in ms. */
const restore = async (run: Rehearsal): Promise<number> => {
  const { gateway } = run;
  const restoreMs = await step('restore into new tables', async () =>
    countsOf(await restoreTables(gateway.endpoint, copies, restoredNames)),
  );
  await step('audit of the new tables', () => auditOk(gateway));
  await step('replay of the outbox', async () => {
    const outcomes = await onStores(placeOf(gateway, restoredNames), ({ ledger, outbox }) =>
      Array.fromAsync(
        replayOutbox({ ...steady, store: ledger, outbox }, historyOf(entryOf(run)), { sinceMs: 0, isDryRun: false }),
        ({ outcome }) => outcome,
      ),
    );
    expectEqual('outcome', outcomes.join(), 'replayed');
    return `${outcomes.length} replayed`;
  });
  return restoreMs;
};

const switchTables = async (run: Rehearsal): Promise<void> => {
  await step('switch to the new tables', async () => {
    await run.gateway.stop();
    run.gateway = await startGateway(dataFolder, restoredNames);
    await untilRejected(run.gateway);
    return 'the gateway runs on them and is still in maintenance';
  });
  await step('workers continue', async () => {
    const from = run.gateway.log().length;
    await setMaintenance(run.gateway, 'on');
    await untilNotices(run.gateway, from, ['notes_settled']);
    return `the replayed entry is charged; ${await auditOk(run.gateway)}`;
  });
  await step('maintenance off', () => setMaintenance(run.gateway, 'off'));
  await step('first request', async () => {
    await until('an accepted request', async () => {
      const reply = await chat(run.gateway.customer, 'the first request');
      run.after = [reply];
      return reply.status === 200;
    });
    return `200, cost ${formatUsd(sumOf(run.after))} USD`;
  });
};

const checkMoney = async (run: Rehearsal): Promise<void> => {
  const { gateway } = run;
  await step('load on the new tables', async () => {
    run.after = [...run.after, ...(await sendLoad(gateway.customer, LOAD))];
    await until('a healthy gateway', async () => (await health(gateway.customer)) === '200 {"status":"ok"}');
    return `${run.after.length} requests charged ${formatUsd(sumOf(run.after))} USD; health is ok`;
  });
  await step('balance', async () => {
    const wanted = parseUsd(START_BALANCE_USD) - sumOf(run.kept) - CHARGED_PICOS - sumOf(run.after);
    await until('the last charge', async () => (await balanceAt(gateway, restoredNames)) === wanted);
    return `${formatUsd(wanted)} USD, exactly the credit minus the charges that were kept; ${await auditOk(gateway)}`;
  });
};

const rehearse = async (): Promise<void> => {
  const gateway = await startGateway(dataFolder, localTableNames);
  const run: Rehearsal = { gateway, kept: [], lost: [], after: [], entry: undefined };
  endings.push(() => run.gateway.stop());
  const lossMs = await loadAndFail(run);
  const stoppedAtMs = performance.now();
  await stopWork(run);
  const restoreMs = await restore(run);
  await switchTables(run);
  const downMs = performance.now() - stoppedAtMs;
  await checkMoney(run);
  line('');
  line(`Requests were rejected for ${seconds(downMs).trim()}. The restore itself took ${seconds(restoreMs).trim()}.`);
  line(
    `Lost: ${run.lost.length} charges of ${formatUsd(sumOf(run.lost))} USD, from the ${seconds(lossMs).trim()} between the restore point and the failure, and from requests that ended in maintenance.`,
  );
};

try {
  await rehearse();
} catch (error) {
  process.stderr.write(`The rehearsal failed: ${whyOf(error)}\n`);
  process.exitCode = 1;
} finally {
  for (const end of endings) await end();
  rmSync(folder, { recursive: true, force: true });
}
