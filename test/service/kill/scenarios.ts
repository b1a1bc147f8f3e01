import * as z from 'zod';
import { toHolds } from '../../../lambdas/stores/dynamodb/hold-entries.ts';
import type { Wanted } from '../../support/fault-proxy-wire.ts';
import { LASTING_MODEL, saying } from '../../support/gateway-chat.ts';

/** A paid request that is killed at each of its calls. */
export interface KillScenario {
  readonly title: string;
  readonly path: string;
  readonly model: string;
  /** The mark identifies this request at the provider. */
  readonly body: (mark: string) => object;
  readonly keyed?: true;
  /** Behavior of the provider, except for pauses at a point. */
  readonly vendor?: { readonly textBytes?: number; readonly delayMs?: number; readonly words?: number };
  /** Store calls in order. Concurrent calls can have any order. */
  readonly calls: readonly string[];
  /** The request is also killed after 0 to this many provider events. 0 if the response is not a stream. */
  readonly vendorEvents: number;
}

export const USED = { prompt_tokens: 70, completion_tokens: 21 };

export const ADDRESS = 'counters UpdateItem';
export const RENEW = 'idempotency renew';
export const RECORD = 'accounts record';
/** Read of a record: before the provider call if the claim was renewed late, and in the last step of a video. */
export const CHECK = 'accounts check';
/** Not a store call: represents the provider call. */
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

/** Lease renewals start after a third of the one-second lease, during this delay of the provider. */
const THINKS_MS = 700;
const WORDS = 4;

export const killScenarios: readonly KillScenario[] = [
  { title: 'a chat', ...chat(), calls: PLAIN, vendorEvents: 0 },
  // Start, words, end, usage and [DONE].
  { title: 'a stream', ...chat({ stream: true }), vendor: { words: WORDS }, calls: PLAIN, vendorEvents: WORDS + 3 },
  { title: 'a chat with a key', ...chat(), keyed: true, calls: KEYED, vendorEvents: 0 },
  {
    title: 'a slow chat with a key and a response over 256 KB',
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

/** Returns the purpose of a call. Retries have the same name. */
export function callName({ operation, table, keys, body }: Wanted): string {
  const text = JSON.stringify(body) ?? '';
  if (table === 'keys') return 'keys';
  if (table === 'accounts' && keys[0]?.includes('CHARGE#')) return operation === 'PutItem' ? RECORD : CHECK;
  const [, name] = marks.find(([mark]) => `${table} ${text}`.includes(mark)) ?? [];
  return name ?? (table === 'idempotency' && operation === 'PutItem' ? 'idempotency claim' : `${table} ${operation}`);
}

const holdSchema = z.object({
  ExpressionAttributeNames: z.object({ '#id': z.string() }),
  ExpressionAttributeValues: z.object({ ':hold': z.object({ B: z.base64() }) }),
});

/** Returns the id of the hold that a call places. */
export const heldIn = ({ body }: Wanted): string => {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = holdSchema.parse(body);
  const [holdId = ''] = toHolds({ [names['#id']]: Buffer.from(values[':hold'].B, 'base64') }).keys();
  return holdId;
};

const releaseSchema = z.object({ Item: z.object({ outcome: z.object({ S: z.literal('released') }) }) });

/** Whether a call writes the record of a request that ends without a charge. */
export const isRelease = ({ body }: Wanted): boolean => releaseSchema.safeParse(body).success;

const marks = [
  ['available - :amount', 'accounts hold'],
  ['REMOVE holds.#id', 'accounts apply'],
  ['prepared = :answer', 'idempotency prepare'],
  ['"SET leaseUntilMs = :lease"', RENEW],
  ['"SET #state = :done"', 'idempotency complete'],
] as const;
