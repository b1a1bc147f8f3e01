import { catalogData } from '../catalog/index.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import type { TextProtocol, TextRequest } from '../lambdas/core/text/conversation.ts';
import type { TextWire } from '../lambdas/core/text/text-wire.ts';
import { toTextParams } from '../lambdas/protocols/chat-completions/request.ts';
import { chatCompletions } from '../lambdas/protocols/chat-completions/response.ts';
import { streamedAsEvents } from '../lambdas/protocols/generate-content/response.ts';
import { messages } from '../lambdas/protocols/messages/response.ts';
import { responses } from '../lambdas/protocols/responses/response.ts';
import type { TextProtocolAdapter } from '../lambdas/protocols/text-adapter.ts';
import { createMessagesWire } from '../lambdas/providers/anthropic/messages-wire.ts';
import { createGenerateContentWire } from '../lambdas/providers/google/generate-content-wire.ts';
import { createChatWire } from '../lambdas/providers/openai/chat-wire.ts';
import { createResponsesWire } from '../lambdas/providers/openai/responses-wire.ts';
import { chatSample, contentSample, messagesSample, responsesSample } from './stream-samples.ts';

/**
 * Measures CPU time per stream event, from the provider's bytes to the text for the client. An event is forwarded if
 * provider and client use the same protocol, and translated otherwise. Each measurement alternates with one that only
 * decodes the stream, so that other load on the machine affects both. `npx node bench/stream-events.ts`
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 40);
const WARM_UP = 10;
const STREAMS = 10;
const EVENTS = 1_000;
const PIECE_BYTES = 16 * 1024;

const catalog = loadCatalog(catalogData);
const encoder = new TextEncoder();

let pieces: readonly Uint8Array[] = [];

async function* played(): AsyncGenerator<Uint8Array, void> {
  yield* pieces;
}

const options = {
  http: async () => ({ status: 200, headers: {}, body: played(), discard: () => undefined }),
  access: () => ({ baseUrl: 'https://vendor.test', key: 'bench', credentialId: 'bench' }),
  notice: () => undefined,
  now: Date.now,
  random: Math.random,
  fetchImage: () => Promise.reject(new Error('The benchmark fetches no images.')),
};

interface Course {
  readonly title: string;
  readonly wire: TextWire;
  readonly face: TextProtocolAdapter;
  readonly protocol: TextProtocol;
  readonly modelId: string;
  readonly sample: (word: string, count: number) => string;
}

const chat = { face: chatCompletions, protocol: 'chat_completions' } as const;

const courses: readonly Course[] = [
  { title: 'chat, forwarded', wire: createChatWire(options), ...chat, modelId: 'gpt-4.1-mini', sample: chatSample },
  {
    title: 'messages, forwarded',
    wire: createMessagesWire(options),
    face: messages,
    protocol: 'messages',
    modelId: 'claude-haiku-4-5',
    sample: messagesSample,
  },
  {
    title: 'responses, forwarded',
    wire: createResponsesWire(options),
    face: responses,
    protocol: 'responses',
    modelId: 'gpt-5.5-pro',
    sample: responsesSample,
  },
  {
    title: 'generateContent, forwarded',
    wire: createGenerateContentWire(options),
    face: streamedAsEvents,
    protocol: 'generate_content',
    modelId: 'gemini-3.5-flash-lite',
    sample: contentSample,
  },
  {
    title: 'chat from messages',
    wire: createMessagesWire(options),
    ...chat,
    modelId: 'claude-haiku-4-5',
    sample: messagesSample,
  },
  {
    title: 'chat from generateContent',
    wire: createGenerateContentWire(options),
    ...chat,
    modelId: 'gemini-3.5-flash-lite',
    sample: contentSample,
  },
  {
    title: 'chat from responses',
    wire: createResponsesWire(options),
    ...chat,
    modelId: 'gpt-5.4-mini',
    sample: responsesSample,
  },
];

const requestFor = (modelId: string): TextRequest => {
  const json = { model: modelId, stream: true, messages: [{ role: 'user', content: 'Hello' }] };
  const model = textModel(modelId);
  if (model.protocols.includes('chat_completions')) return toTextParams(json, 100, () => '').validateFor(model);
  return {
    stream: true,
    choices: 1,
    outputTokensMax: undefined,
    usesTools: false,
    effort: undefined,
    prompt: { bytes: 100, images: [] },
    promptPricing: 'one-rate',
    ignored: [],
    body: json,
  };
};

const textModel = (id: string) => {
  const model = catalog.entries.find((entry) => entry.id === id);
  if (model?.kind !== 'text') throw new Error(`The catalog has no text model ${id}.`);
  return model;
};

const runOnce = async ({ wire, face, protocol, modelId }: Course): Promise<number> => {
  const model = textModel(modelId);
  const [upstream] = model.upstreams;
  const provider = upstream && catalog.provider(upstream.provider);
  if (!upstream || !provider) throw new Error('The model has no upstream.');
  const call = wire.buildCall({ protocol, request: requestFor(modelId), model, upstream, provider });
  const sent = await call.send({ outputTokensMax: 100, signal: new AbortController().signal });
  if (sent.kind !== 'stream') throw new Error('The provider returned no stream.');
  let length = 0;
  const write = (text: string): void => {
    length += text.length;
  };
  const sink = face.toStream({ modelId, requestId: 'r', nowMs: 0, write });
  for (let next = await sent.events.next(); !next.done; next = await sent.events.next()) {
    if (next.value.kind === 'native') sink.native(next.value.events);
    else if (next.value.kind === 'neutral') sink.neutral(next.value.deltas);
    else sink.finish(next.value.ending, { costPicos: 1n, usage: next.value.usage, balancePicos: undefined });
  }
  return length;
};

const decodeOnce = async (): Promise<number> => {
  const decoder = new TextDecoder();
  let length = 0;
  for await (const bytes of played()) length += decoder.decode(bytes, { stream: true }).length;
  return length;
};

/** Returns the CPU time of one event in microseconds. */
const measure = async (run: () => Promise<number>): Promise<number> => {
  const began = process.cpuUsage();
  for (let stream = 0; stream < STREAMS; stream += 1) {
    if ((await run()) < EVENTS) throw new Error('The stream is incomplete.');
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / (STREAMS * EVENTS);
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const cut = (text: string): Uint8Array[] => {
  const bytes = encoder.encode(text);
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES));
};

console.log(
  `${ROUNDS} rounds of ${STREAMS} streams of ${EVENTS} events in 16 KiB pieces, microseconds of CPU per event`,
);
console.log(`${''.padEnd(30)}${['decoding', 'total', 'added'].map((title) => title.padStart(12)).join('')}`);
for (const course of courses.filter(({ title }) => title.includes(process.env.BENCH_ONLY ?? ''))) {
  pieces = cut(course.sample(' hello', EVENTS));
  const decoding: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const pair = [await measure(decodeOnce), await measure(() => runOnce(course))] as const;
    if (round < WARM_UP) continue;
    decoding.push(pair[0]);
    whole.push(pair[1]);
  }
  const added = median(whole.map((time, index) => time - (decoding[index] ?? 0)));
  const cells = [median(decoding), median(whole), added].map((time) => time.toFixed(3).padStart(12));
  console.log(`${course.title.padEnd(30)}${cells.join('')}`);
}
