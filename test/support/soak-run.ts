import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulator } from '../../local/simulators/server.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { until } from './gateway-process.ts';
import { numbersFrom } from './kill-random.ts';
import { type ServerGroup, startServerGroup } from './server-group.ts';
import { ask, type SoakAnswer, type SoakCustomer } from './soak-client.ts';
import { type SoakCall, soakCalls } from './soak-load.ts';
import { type Sample, sampleProcess } from './soak-samples.ts';

export interface SoakOptions {
  readonly requests: number;
  readonly outageSeconds: number;
  readonly auditEverySeconds: number;
  /**
   * Must exceed 60 so that outbox entries are written (BILL-14). The end of the run waits as long for holds that the
   * outage left open.
   */
  readonly holdGraceSeconds: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface SoakResult {
  readonly answers: readonly SoakAnswer[];
  /** Outage of the store. */
  readonly outage: Span;
  /** Times when the machine was too busy for the store, or for this process, to respond in time. */
  readonly stalls: readonly Span[];
  readonly samples: readonly Sample[];
  readonly audits: { readonly read: number; readonly unstable: number; readonly breaks: readonly string[] };
  /** Ids of the requests that the ledger has charged. */
  readonly charged: ReadonlySet<string>;
  readonly seconds: number;
  /** Lines of output that the program must not write. */
  readonly crashes: readonly string[];
}

/** Times by `performance.now()`, in ms. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const ACCOUNTS = 6;
const WORKERS = 16;
const FUNDS_PICOS = 1_000_000_000_000_000n;
/** Time before a client calls again after a 503. */
const BACK_OFF_MS = 400;
const SAMPLE_EVERY_MS = 500;
const BEAT_MS = 50;
/** Outcome of a call whose store fails. */
export const UNAVAILABLE = '503 service_unavailable';
const DEADLINE_SECONDS = 10;
/** Longest response time of the store that is not a stall. A server waits 1 s for a hold and 2 s for anything else. */
const STALL_MS = 700;

/** Sends a mixture of calls to the real program. In the middle, its store is unavailable for a while. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { holdGraceSeconds, seed } = options;
  const vendor = await startSimulator({ recordedMax: 1 });
  const group = await startServerGroup();
  const proxy = await startFaultProxy({ target: group.databaseUrl });
  try {
    const gateway = await group.start({
      vendorUrl: vendor.url,
      databaseUrl: proxy.endpoint,
      environment: {
        SWEEP_SECONDS: '1',
        HOLD_GRACE_SECONDS: String(holdGraceSeconds),
        UPSTREAM_DEADLINE_SECONDS: String(DEADLINE_SECONDS),
      },
    });
    const customers = await Promise.all(Array.from({ length: ACCOUNTS }, (_, index) => openCustomer(group, index)));
    const calls = soakCalls(numbersFrom(seed));
    const outage = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };
    const samples: Sample[] = [];
    const stalls: Span[] = [];
    const noteStall = (from: number): void => {
      const to = performance.now();
      if (to - from > STALL_MS) stalls.push({ from, to });
    };
    proxy.setPlan(({ over }) => {
      const from = performance.now();
      over.then(() => noteStall(from));
      return undefined;
    });
    const audits = { read: 0, unstable: 0, breaks: [] as string[] };
    const startedAt = performance.now();
    let running = true;
    const repeat = async (everyMs: number, work: () => void | Promise<void>): Promise<void> => {
      for (; running; await sleep(everyMs)) await work();
    };
    const auditAll = () => auditEach(group, customers, audits);
    const beside = Promise.all([
      repeat(SAMPLE_EVERY_MS, () => void samples.push(sampleProcess(gateway.pid))),
      repeat(options.auditEverySeconds * 1_000, auditAll),
      repeat(1_000, () => proxy.forget()),
      repeat(0, async () => {
        const from = performance.now();
        await sleep(BEAT_MS);
        noteStall(from);
      }),
      // Shows a program that gets no CPU: it ends its store calls late, although the store replied in time.
      repeat(BEAT_MS, async () => {
        const from = performance.now();
        await (await fetch(`${gateway.url}/no-such-route`)).body?.cancel();
        noteStall(from);
      }),
    ]);
    const setOutage = (lasts: boolean): void => {
      proxy.setOutage(lasts);
      outage[lasts ? 'from' : 'to'] = performance.now();
      options.say?.(
        `${Math.round((performance.now() - startedAt) / 1_000)} s: the store is ${lasts ? 'gone' : 'back'}`,
      );
    };
    const answers = await drive({ ...options, url: gateway.url, customers, calls, setOutage });
    running = false;
    await beside;
    const seconds = (performance.now() - startedAt) / 1_000;
    await untilNothingHeld(group, customers, DEADLINE_SECONDS + holdGraceSeconds + 60);
    await auditAll();
    const records = await Promise.all(customers.map(({ accountId }) => group.recordsOf(accountId)));
    const settled = records.flat().filter(({ outcome }) => outcome === 'settled');
    const crashes = gateway
      .output()
      .split('\n')
      .filter((line) => /a handler failed|sweeper failed: (?!.*StoreError)/.test(line));
    return {
      answers,
      outage,
      stalls,
      samples,
      audits,
      charged: new Set(settled.map(({ requestId }) => requestId)),
      seconds,
      crashes,
    };
  } finally {
    await group.stop();
    await Promise.all([proxy.stop(), vendor.stop()]);
  }
}

/** Every second customer uses an API key with a cap, which the audit compares with its charges (KEY-9). */
const openCustomer = async (group: ServerGroup, index: number): Promise<SoakCustomer> => {
  const account = await group.openAccount(`soak-${index}`, FUNDS_PICOS);
  if (index % 2 === 0) return account;
  return group.addKey(account.accountId, { name: 'Capped', limitPicos: FUNDS_PICOS / 2n, limitPeriod: 'day' });
};

interface Drive extends Pick<SoakOptions, 'requests' | 'outageSeconds'> {
  readonly url: string;
  readonly customers: readonly SoakCustomer[];
  readonly calls: Iterator<SoakCall, never>;
  readonly setOutage: (lasts: boolean) => void;
}

async function drive({ requests, outageSeconds, url, customers, calls, setOutage }: Drive): Promise<SoakAnswer[]> {
  const answers: SoakAnswer[] = [];
  let sent = 0;
  let outage: Promise<void> | undefined;
  const inOutage = async (): Promise<void> => {
    setOutage(true);
    const from = performance.now();
    await sleep(outageSeconds * 1_000);
    // On a slow machine the first call of the outage ends later than that.
    const isFelt = () => answers.some(({ outcome, startedAt }) => startedAt >= from && outcome === UNAVAILABLE);
    await until('a call that the outage fails', () => isFelt() || undefined);
    setOutage(false);
  };
  const send = async (customer: SoakCustomer, call: SoakCall): Promise<void> => {
    const answer = await ask(url, customer, call);
    answers.push(answer);
    if (answer.status === 503) await sleep(BACK_OFF_MS);
  };
  const work = async (): Promise<void> => {
    while (sent < requests) {
      const customer = customers[sent % customers.length]!;
      const { value: call } = calls.next();
      sent += call.again ? 2 : 1;
      if (sent >= requests / 2) outage ??= inOutage();
      await send(customer, call);
      if (call.again) await send(customer, call);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  await outage;
  return answers;
}

async function auditEach(
  group: ServerGroup,
  customers: readonly SoakCustomer[],
  audits: { read: number; unstable: number; readonly breaks: string[] },
): Promise<void> {
  for (const { accountId } of customers) {
    const { findings, stable } = await group.audit(accountId);
    audits.read += 1;
    if (!stable) audits.unstable += 1;
    audits.breaks.push(...findings.map(({ invariant, message }) => `${accountId} ${invariant}: ${message}`));
  }
}

const untilNothingHeld = (group: ServerGroup, customers: readonly SoakCustomer[], seconds: number): Promise<true> =>
  until(
    'the end of every hold',
    async () => {
      const accounts = await Promise.all(customers.map(({ accountId }) => group.store.readAccount(accountId)));
      return accounts.every((account) => account?.holds.size === 0) || undefined;
    },
    seconds * 1_000,
  );
