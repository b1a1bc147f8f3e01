import type { Wanted } from '../../support/fault-proxy-wire.ts';
import { LASTING_MODEL, saying } from '../../support/gateway-chat.ts';

/** A paid request that is to be killed wherever it waits. */
export interface KillScenario {
  readonly title: string;
  readonly path: string;
  readonly model: string;
  /** The mark tells this request from all others at the vendor. */
  readonly body: (mark: string) => object;
  readonly keyed?: true;
  /** What the vendor does, besides what a point asks for. */
  readonly vendor?: { readonly textBytes?: number; readonly delayMs?: number; readonly words?: number };
  /** What it asks of the stores, in order. Where two are asked at once, either may be first. */
  readonly calls: readonly string[];
  /** After so many events of the vendor it may be killed as well; 0 alone where the answer comes whole. */
  readonly vendorEvents: number;
}

export const USED = { prompt_tokens: 70, completion_tokens: 21 };

export const ADDRESS = 'counters UpdateItem';
export const RENEW = 'idempotency renew';
export const RECORD = 'accounts record';
/** Not a store's: stands where the vendor is called. */
export const VENDOR = 'vendor';
const PLAIN = [ADDRESS, 'keys', 'accounts hold', VENDOR, RECORD, 'accounts apply'];
const KEYED_BEFORE = [ADDRESS, 'keys', 'idempotency claim', 'accounts hold', VENDOR];
const KEYED_AFTER = ['idempotency prepare', RECORD, 'accounts apply', 'idempotency complete'];
const KEYED = [...KEYED_BEFORE, ...KEYED_AFTER];

const chat = (more: object = {}) => ({
  path: '/v1/chat/completions',
  model: LASTING_MODEL,
  body: (mark: string) => ({ model: LASTING_MODEL, messages: saying(mark), max_tokens: 100, ...more }),
});

/** A lease of one second is renewed after a third of it, while this vendor thinks. */
const THINKS_MS = 700;
const WORDS = 4;

export const killScenarios: readonly KillScenario[] = [
  { title: 'a chat', ...chat(), calls: PLAIN, vendorEvents: 0 },
  // Begin, words, end, usage and [DONE].
  { title: 'a stream', ...chat({ stream: true }), vendor: { words: WORDS }, calls: PLAIN, vendorEvents: WORDS + 3 },
  { title: 'a chat with a key', ...chat(), keyed: true, calls: KEYED, vendorEvents: 0 },
  {
    title: 'a slow chat with a key and an answer over 256 KB',
    ...chat(),
    keyed: true,
    vendor: { textBytes: 300_000, delayMs: THINKS_MS },
    calls: [...KEYED_BEFORE, RENEW, 'media PUT', ...KEYED_AFTER],
    vendorEvents: 0,
  },
  {
    title: 'an embedding',
    path: '/v1/embeddings',
    model: 'text-embedding-3-small',
    body: (mark) => ({ model: 'text-embedding-3-small', input: `${mark} ${'word '.repeat(100)}` }),
    calls: PLAIN,
    vendorEvents: 0,
  },
];

/** What a call is for, the same at each repeat of it. */
export function callName({ operation, table, keys, body }: Wanted): string {
  const text = JSON.stringify(body) ?? '';
  if (table === 'keys') return 'keys';
  if (table === 'accounts' && keys[0]?.includes('CHARGE#')) return RECORD;
  const [, name] = marks.find(([mark]) => `${table} ${text}`.includes(mark)) ?? [];
  return name ?? (table === 'idempotency' && operation === 'PutItem' ? 'idempotency claim' : `${table} ${operation}`);
}

const marks = [
  ['available - :amount', 'accounts hold'],
  ['REMOVE holds.#id', 'accounts apply'],
  ['prepared = :answer', 'idempotency prepare'],
  ['"SET leaseUntilMs = :lease"', RENEW],
  ['"SET #state = :done"', 'idempotency complete'],
] as const;
