import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Wire } from '../../../../lambdas/core/catalog/providers.ts';
import type { Circuits } from '../../../../lambdas/core/circuit/circuit.ts';
import type { CapOfKey } from '../../../../lambdas/core/ledger/caps.ts';
import type { LedgerStore } from '../../../../lambdas/core/ledger/ledger.ts';
import { FundedAccounts } from '../../../../lambdas/core/limits/funded-accounts.ts';
import type { MoneyMeter } from '../../../../lambdas/core/metrics.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { EstimateFactor } from '../../../../lambdas/core/pricing/estimate-factor.ts';
import type { TextParams, TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { generateText, type TextOptions } from '../../../../lambdas/core/text/generate-text.ts';
import type { TextDependencies } from '../../../../lambdas/core/text/text-candidates.ts';
import type {
  Dispatch,
  TextWire,
  WireAnswer,
  WireCall,
  WireEvent,
  WireStream,
} from '../../../../lambdas/core/text/text-wire.ts';
import { type Fault, withFaults, withOutboxFaults } from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { data, text } from '../catalog/sample-data.ts';
import { NOW } from './text-models.ts';

export const ACCOUNT = 'account-1';
export const REQUEST = 'request-1';
export const GRACE_MS = 300_000;

/** Pico-USD per token: 8 USD and 40 USD per million. */
export const INPUT_PICOS = 8_000_000n;
export const OUTPUT_PICOS = 40_000_000n;

/** 36 bytes and 64 tokens of overhead: at most 100 tokens. */
export const PROMPT = { bytes: 36, images: [] };
export const heldFor = (answerTokens: number): bigint => 100n * INPUT_PICOS + BigInt(answerTokens) * OUTPUT_PICOS;

export const used = (input: number, output: number): TokenUsage => ({
  input,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output,
  reasoning: 0,
});

export const answered = (usage: WireAnswer['usage'] = used(40, 10)): WireAnswer => ({
  kind: 'answer',
  content: { kind: 'native', text: '{"id":"answer"}', body: { id: 'answer' } },
  usage,
});

export const ended = (usage: WireAnswer['usage'] = used(40, 10)): WireEvent => ({
  kind: 'end',
  ending: { kind: 'deferred', event: { id: 'last' }, reportedUsage: { prompt_tokens: 40 } },
  usage,
});

export const raw = (word: string, announcement = false): WireEvent => ({
  kind: 'native',
  events: [word],
  announcement,
});

/** A call as it was sent. */
export type SentCall = WireCall & Dispatch;
type Play = (call: SentCall) => Promise<WireAnswer | WireStream>;
type Method = keyof LedgerStore;

export interface WorldOptions {
  /** Factor on every price; 1 by default. */
  readonly markup?: string;
  readonly models?: readonly unknown[];
  readonly providers?: readonly unknown[];
  /** Starting balance. The default of 1000 USD is more than any test needs. */
  readonly usd?: string;
  readonly play?: Play;
  readonly fault?: (method: Method, turn: number) => Fault | undefined;
  readonly reachable?: TextDependencies['reachable'];
  readonly upstreamDeadlineMs?: number;
  readonly uncollectedDailyPicos?: bigint;
  readonly wires?: readonly Wire[];
  readonly render?: TextOptions['render'];
  readonly circuits?: Circuits;
  readonly outboxFaults?: Parameters<typeof withOutboxFaults>[1];
  /** Estimate factor of the account. */
  readonly estimate?: EstimateFactor;
  /** Models of the API key. Undefined means all. */
  readonly allowed?: readonly string[];
  /** Cap of the API key of the requests. */
  readonly cap?: CapOfKey;
  /** Whether the process remembers the holds of accounts. */
  readonly remembersFunds?: boolean;
  /** Smallest output limit that the provider accepts. */
  readonly outputTokensMin?: number;
}

export const createWorld = async (options: WorldOptions = {}) => {
  const clock = new ManualClock(NOW);
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ACCOUNT, 0);
  await memory.credit({
    accountId: ACCOUNT,
    ref: 'first',
    amountPicos: parseUsd(options.usd ?? '1000'),
    reason: 'test',
    at: NOW,
  });
  /** Store calls, upstream calls and events at a sink, in order. */
  const log: string[] = [];
  const notices: string[] = [];
  const margins: (readonly [modelId: string, picos: bigint])[] = [];
  const money: Parameters<MoneyMeter>[0][] = [];
  const notes = new MemoryOutbox();
  const sent: SentCall[] = [];
  const store = withFaults(memory, (method, turn) => {
    log.push(method);
    return options.fault?.(method, turn);
  });
  const wire: TextWire = {
    buildCall: (call) => ({
      outputTokensMin: options.outputTokensMin,
      send: async (dispatch) => {
        log.push('send');
        const made = { ...call, ...dispatch };
        sent.push(made);
        return (options.play ?? (async () => answered()))(made);
      },
    }),
  };
  const deps: TextDependencies = {
    catalog: options.providers
      ? loadCatalog(data(options.models ?? [text()], options.providers))
      : loadCatalog(data(options.models ?? [text()]), { markup: options.markup ?? '1' }),
    wires: new Map((options.wires ?? ['openai_chat']).map((name) => [name, wire] as const)),
    reachable: options.reachable ?? (() => true),
    ledger: {
      store,
      outbox: withOutboxFaults(notes, options.outboxFaults ?? {}),
      clock,
      random: () => 0,
      shortestLifetimeMs: GRACE_MS,
      meter: (picos) => money.push(picos),
    },
    circuits: options.circuits ?? freePassage(),
    uncollectedDailyPicos: options.uncollectedDailyPicos ?? parseUsd('1'),
    notice: (notice) => notices.push(notice),
    margin: (modelId, picos) => margins.push([modelId, picos]),
    holdGraceMs: GRACE_MS,
    upstreamDeadlineMs: options.upstreamDeadlineMs ?? 900_000,
    ...(options.remembersFunds && { funded: new FundedAccounts(clock) }),
  };
  let requests = 0;
  const nextRequestId = (): string => {
    requests += 1;
    return `request-${requests}`;
  };
  const generate = (
    changedOptions: Partial<TextOptions>,
    changes: Partial<TextRequest> = {},
    order: Partial<TextParams> = {},
    hostEndsAtMs?: number,
  ) =>
    generateText(
      deps,
      {
        accountId: ACCOUNT,
        requestId: nextRequestId(),
        hostEndsAtMs,
        estimate: options.estimate,
        models: options.allowed,
        cap: options.cap,
      },
      {
        protocol: 'chat_completions',
        modelId: 'alpha-1',
        endUser: undefined,
        params: { prompt: 'messages', cap: 'max_tokens' },
        validateFor: () => requestOf(changes),
        ...order,
      },
      { render: options.render ?? (({ content }) => JSON.stringify(content)), dryRun: false, ...changedOptions },
    );
  const ask = async (changes?: Partial<TextRequest>, order?: Partial<TextParams>, hostEndsAtMs?: number) => {
    const generated = await generate({}, changes, order, hostEndsAtMs);
    if (generated.kind === 'dry_run') throw new Error('unexpected dry run');
    return generated;
  };
  const account = async () => {
    const found = await memory.readAccount(ACCOUNT);
    if (!found) throw new Error('the account is gone');
    return found;
  };
  return {
    clock,
    memory,
    notes,
    deps,
    log,
    notices,
    margins,
    money,
    sent,
    generate,
    ask,
    account,
    records: () => memory.recordsOf(ACCOUNT),
  };
};

export type World = Awaited<ReturnType<typeof createWorld>>;

export const requestOf = (changes: Partial<TextRequest> = {}): TextRequest => ({
  stream: false,
  choices: 1,
  outputTokensMax: undefined,
  usesTools: false,
  effort: undefined,
  prompt: PROMPT,
  promptPricing: 'one-rate',
  ignored: [],
  body: {},
  ...changes,
});

export type StreamPart = WireEvent | Error;

/** Creates a stream of these events. An Error among them is thrown when its turn comes. */
export const streamOf = (...events: readonly StreamPart[]): WireStream & { readonly closed: () => number } => {
  let closed = 0;
  async function* play(): AsyncGenerator<WireEvent, void> {
    for (const event of events) {
      if (event instanceof Error) throw event;
      yield event;
    }
  }
  return {
    kind: 'stream',
    events: play(),
    close: () => {
      closed += 1;
    },
    usageSoFar: () => undefined,
    closed: () => closed,
  };
};
