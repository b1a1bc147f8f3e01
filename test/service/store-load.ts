import { join } from 'node:path';
import * as z from 'zod';
import { openEmbeddedStores } from '../../local/embedded-stores.ts';
import { setFact } from '../../local/stores/sqlite/facts.ts';
import { readBeats } from '../../local/stores/sqlite/heartbeats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { LASTING_MODEL, saying } from '../support/gateway-chat.ts';
import { until, within } from '../support/gateway-process.ts';
import { aheadBy } from '../support/program.ts';
import { runCli } from './cli-process.ts';

interface Call {
  readonly path: string;
  readonly body: object;
  readonly isKeyed?: boolean;
}

const chats = '/v1/chat/completions';
const chat = (mark: string) => ({ model: LASTING_MODEL, messages: saying(`${mark} [[words 20]]`), max_tokens: 50 });

/** A stream, a chat, a chat whose response is stored, and an image whose file is stored. */
const kinds: readonly ((mark: string) => Call)[] = [
  (mark) => ({ path: chats, body: { ...chat(mark), stream: true } }),
  (mark) => ({ path: chats, body: chat(mark) }),
  (mark) => ({ path: chats, body: chat(mark), isKeyed: true }),
  (mark) => ({
    path: '/v1/images/generations',
    body: { model: 'gpt-image-2', prompt: `${mark} [[image-bytes 50000]]` },
  }),
];

/** Number of clients of a load: two for each kind of request. */
export const CLIENTS = 2 * kinds.length;

export interface Reply {
  /** Order of the request among all sent requests. */
  readonly number: number;
  /** Whether the request was sent with an idempotency key. */
  readonly isKeyed: boolean;
  readonly status: number;
  readonly requestId: string;
  readonly text: string;
  /** A complete 200, or a stream with its `[DONE]`. */
  readonly isWhole: boolean;
}

export interface StoreLoad {
  /** Oldest first. */
  readonly replies: readonly Reply[];
  /** Number of requests sent so far. */
  sent(): number;
  /** Number of complete replies. */
  whole(): number;
  /** Sends one request of each kind, in addition to the clients. */
  sendOfEachKind(): Promise<readonly Reply[]>;
  /** Resolves with the replies to the requests up to this number when all have arrived. */
  repliesUpTo(number: number): Promise<readonly Reply[]>;
  /** Stops the clients after their requests in progress. */
  stop(): Promise<void>;
}

/** Starts clients that send one request after another until `stop`. */
export const startStoreLoad = ({ url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>): StoreLoad => {
  const replies: Reply[] = [];
  let sent = 0;
  let isStopped = false;
  const send = async (kind: (mark: string) => Call): Promise<Reply> => {
    sent += 1;
    const number = sent;
    const { path, body, isKeyed = false } = kind(`request-${number}`);
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...(isKeyed ? { 'idempotency-key': `request-${number}` } : {}),
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const isWhole = response.status === 200 && (!isStream || text.endsWith('data: [DONE]\n\n'));
    const requestId = response.headers.get('x-request-id') ?? '';
    const reply = { number, isKeyed, status: response.status, requestId, text, isWhole };
    replies.push(reply);
    return reply;
  };
  const work = async (client: number): Promise<void> => {
    const kind = kinds[client % kinds.length];
    while (kind && !isStopped) await send(kind);
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
  // Prevents an unhandled rejection when a failed test stops the gateway before the clients.
  clients.catch(() => undefined);
  return {
    replies,
    sent: () => sent,
    whole: () => replies.filter(({ isWhole }) => isWhole).length,
    sendOfEachKind: () => within('responses to the additional requests', Promise.all(kinds.map(send))),
    repliesUpTo: (number) =>
      until(`replies to ${number} requests`, () => {
        const found = replies.filter((reply) => reply.number <= number);
        return found.length === number ? found : undefined;
      }),
    stop: async () => {
      isStopped = true;
      await clients;
    },
  };
};

const healthSchema = z.strictObject({ status: z.string(), problems: z.array(z.string()).optional() });

/** Waits for this status of `GET /health`, and returns its body. */
export const untilHealth = ({ url }: Pick<TestGateway, 'url'>, status: number) =>
  until(`health ${status}`, async () => {
    const response = await fetch(`${url}/health`);
    const body = healthSchema.parse(await response.json());
    return response.status === status ? body : undefined;
  });

const HOUR_MS = 3_600_000;

/** Removes the clocks of ended processes, for which a process with another time would wait. */
const forgetProcesses = async (folder: string): Promise<void> => {
  const stores = await openEmbeddedStores(join(folder, 'database'), { filesFolder: join(folder, 'files') });
  for (const { name } of readBeats(stores.db)) await stores.db.write(() => setFact(stores.db, name, undefined));
  await stores.close();
};

/**
 * Returns the balances and charges in a data folder, in pico-USD, after every hold has ended. For this, a gateway whose
 * clock is an hour ahead runs on the folder.
 */
export const settleFolder = async (folder: string, vendorUrl: string) => {
  const environment = { ...aheadBy(HOUR_MS), SWEEP_SECONDS: '1' };
  await forgetProcesses(folder);
  const gateway = await startGateway({ stores: 'engine', vendorUrl, folder, environment });
  const { balance } = await gateway.untilSettled().finally(() => gateway.stop());
  const stores = await openEmbeddedStores(join(folder, 'database'), { filesFolder: join(folder, 'files') });
  const rows = stores.db.sql("SELECT request_id, amount FROM charges WHERE outcome = 'settled'").all();
  await stores.close();
  const audit = await runCli(['audit'], { DATA_DIR: folder });
  return {
    balance,
    /** Request ids of the charges. */
    charged: rows.map((row) => String(row.request_id)).sort(),
    sum: rows.reduce((sum, row) => sum + BigInt(String(row.amount)), 0n),
    /** Exit code and output. */
    audit: [audit.status, audit.stdout, audit.stderr],
  };
};
