import { LASTING_MODEL, saying } from './gateway-chat.ts';
import { GEMINI, asking as googleAsking } from './google-client.ts';
import { asking, HAIKU } from './messages-client.ts';
import { PRO } from './responses-client.ts';

/** One call as a client would make it. */
export interface SoakCall {
  readonly kind: string;
  readonly path: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
  /** Header of the API key: `authorization` or the provider's own. */
  readonly keyHeader: string;
  /** Whether the simulated provider fails or delays this call. */
  readonly faulty: boolean;
  /** Time in ms after which the client leaves. Undefined if it stays. */
  readonly leavesAfterMs: number | undefined;
  /** Whether the call is sent twice, with the same idempotency key. */
  readonly again: boolean;
  /** Whether the call is free of charge, and so leaves no record in the ledger. */
  readonly free: boolean;
}

/** Markers of the simulator. The last one only delays the response. */
const faults = ['[[status 500]]', '[[status 429 retry-after 1]]', '[[cut 1]]', '[[delay 1500]]'];
const FAULTY = 0.02;
const LEAVING = 0.05;

interface Kind {
  readonly weight: number;
  readonly path: string;
  readonly body: (prompt: string) => object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly keyHeader?: string;
  readonly keyed?: 'once' | 'twice';
  readonly free?: true;
}

const chat = { path: '/v1/chat/completions' };
const chatBody = (prompt: string) => ({ model: LASTING_MODEL, messages: saying(prompt), max_tokens: 200 });

const kinds: Readonly<Record<string, Kind>> = {
  chat: { ...chat, weight: 20, body: chatBody },
  stream: {
    ...chat,
    weight: 20,
    body: (prompt) => ({ ...chatBody(`${prompt} [[words 20]][[pause 2]]`), stream: true }),
  },
  'chat with a key': { ...chat, weight: 10, body: chatBody, keyed: 'once' },
  'chat repeated': { ...chat, weight: 10, body: chatBody, keyed: 'twice' },
  responses: {
    path: '/v1/responses',
    weight: 10,
    body: (prompt) => ({ model: PRO, input: prompt, max_output_tokens: 200 }),
  },
  messages: {
    path: '/v1/messages',
    weight: 10,
    body: (prompt) => ({ model: HAIKU, max_tokens: 200, messages: asking(prompt) }),
    keyHeader: 'x-api-key',
    headers: { 'provider-version': '2023-06-01' },
  },
  generateContent: {
    path: `/v1beta/models/${GEMINI}:generateContent`,
    weight: 10,
    body: googleAsking,
    keyHeader: 'x-goog-api-key',
  },
  embeddings: {
    path: '/v1/embeddings',
    weight: 7,
    body: (prompt) => ({ model: 'text-embedding-3-small', input: prompt }),
  },
  moderation: {
    path: '/v1/moderations',
    weight: 3,
    body: (prompt) => ({ model: 'omni-moderation-latest', input: prompt }),
    free: true,
  },
};

/** Returns an endless mixture of calls. The random numbers determine it. */
export function* soakCalls(random: () => number): Generator<SoakCall, never> {
  const names = Object.entries(kinds).flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name));
  for (let number = 0; ; number += 1) {
    const kind = names[Math.floor(random() * names.length)]!;
    const { path, body, keyed, headers = {}, keyHeader = 'authorization', free = false } = kinds[kind]!;
    const faulty = random() < FAULTY;
    const leaves = keyed === undefined && !free && random() < LEAVING;
    const fault = faulty ? faults[Math.floor(random() * faults.length)] : '';
    const prompt = `Request ${number} [[delay ${Math.floor(random() * 30)}]]${fault}`;
    yield {
      kind,
      path,
      body: body(prompt),
      headers: keyed === undefined ? headers : { ...headers, 'idempotency-key': `soak-${number}` },
      keyHeader,
      faulty,
      leavesAfterMs: leaves ? Math.floor(random() * 60) : undefined,
      again: keyed === 'twice',
      free,
    };
  }
}
