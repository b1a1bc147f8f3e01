import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Wire } from '../../../../lambdas/core/catalog/providers.ts';
import type {
  InputAnswer,
  InputCall,
  InputDependencies,
  PaidInput,
} from '../../../../lambdas/core/inputs/paid-input.ts';
import type { LedgerStore } from '../../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { type Fault, withFaults } from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { data, text, upstream, without } from '../catalog/sample-data.ts';

type Json = Readonly<Record<string, unknown>>;

const NOW = Date.UTC(2026, 10, 1);
const ACCOUNT = 'account-1';
export const REQUEST = 'request-1';

/** Input price in pico-USD per token: 0.13 USD per million tokens. */
export const RATE = 130_000n;

const common = ['capabilities', 'limits', 'reasoning'].reduce(without, text());

export const embedding = (changes: Json = {}): Json => ({
  ...common,
  id: 'vector-1',
  kind: 'embedding',
  protocols: ['embeddings'],
  upstreams: [upstream({ wire: 'openai_embeddings', model: 'vendor-name' })],
  outputTypes: ['embedding'],
  limits: { contextTokens: 100 },
  embedding: { dimensionsDefault: 4, dimensionsSettable: true },
  prices: [{ unit: '1M_tokens', rates: { input: '0.13' } }],
  ...changes,
});

export const moderation = (changes: Json = {}): Json => ({
  ...common,
  id: 'watch-1',
  kind: 'moderation',
  protocols: ['moderations'],
  upstreams: [upstream({ wire: 'openai_moderations', model: 'vendor-name' })],
  outputTypes: ['json'],
  prices: [{ unit: '1M_tokens', rates: { input: '0' } }],
  ...changes,
});

export const used = (input: number) => ({
  input,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
});

export const answered = (usage: InputAnswer['usage'] = used(40)): InputAnswer => ({
  bytes: [Buffer.from('{"id":'), Buffer.from('"answer"}')],
  usage,
});

interface WorldOptions {
  readonly models: readonly unknown[];
  readonly usd?: string;
  readonly play?: (call: InputCall) => Promise<InputAnswer>;
  readonly fault?: (method: keyof LedgerStore, turn: number) => Fault | undefined;
  readonly reachable?: InputDependencies['reachable'];
  readonly wires?: readonly Wire[];
}

/** Creates an account, a catalog and a provider whose responses come from `options.play`. */
export const createInputWorld = async (options: WorldOptions) => {
  const clock = new ManualClock(NOW);
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ACCOUNT, 0);
  const amountPicos = parseUsd(options.usd ?? '1000');
  await memory.credit({ accountId: ACCOUNT, ref: 'first', amountPicos, reason: 'test', at: NOW });
  const log: string[] = [];
  const notices: string[] = [];
  const sent: InputCall[] = [];
  const store = withFaults(memory, (method, turn) => {
    log.push(method);
    return options.fault?.(method, turn);
  });
  const wire = {
    send: async (call: InputCall) => {
      log.push('send');
      sent.push(call);
      return (options.play ?? (async () => answered()))(call);
    },
  };
  const wires = options.wires ?? ['openai_embeddings', 'openai_moderations'];
  const deps: InputDependencies = {
    catalog: loadCatalog(data(options.models)),
    wires: new Map(wires.map((name) => [name, wire] as const)),
    reachable: options.reachable ?? (() => true),
    ledger: { store, outbox: new MemoryOutbox(), clock, random: () => 0, shortestLifetimeMs: 300_000 },
    circuits: freePassage(),
    notice: (notice) => notices.push(notice),
    holdGraceMs: 300_000,
    upstreamDeadlineMs: 900_000,
    uncollectedDailyPicos: parseUsd('1'),
  };
  const caller = { accountId: ACCOUNT, requestId: REQUEST, hostEndsAtMs: undefined };
  const account = async () => {
    const found = await memory.readAccount(ACCOUNT);
    if (!found) throw new Error('the account is gone');
    return found;
  };
  return { clock, memory, deps, caller, log, notices, sent, account, records: () => memory.recordsOf(ACCOUNT) };
};

/** Returns the result of a request that is not a dry run. */
export const answerOf = async (paid: Promise<PaidInput>) => {
  const found = await paid;
  if (found.kind === 'dry_run') throw new Error('unexpected dry run');
  return found;
};
