import type { TokenUsage } from '../../../lambdas/core/pricing/charge.ts';
import type { Wire } from '../../support/protocol-usage.ts';
import { type Claim, claims } from './claims.ts';
import type { Question, Reply, Task, TextProtocol } from './client.ts';

/** Expected response, independent of provider and protocol. */
interface Meaning {
  readonly text: RegExp;
  readonly calls: Reply['calls'];
}

export interface Cell {
  readonly title: string;
  readonly protocol: TextProtocol;
  readonly task: Task;
  readonly question: Question;
  /** Provider protocol behind the gateway. */
  readonly wire: Wire;
  readonly answers: readonly Meaning[];
  /** Counts that the question makes the provider report. */
  readonly counts: Partial<TokenUsage>;
  /** Counts that must be above 0. */
  readonly positive: readonly (keyof TokenUsage)[];
  /** Message of the 400 if this combination does not exist. */
  readonly refused: string | undefined;
}

const tasks: readonly Task[] = ['text', 'tools', 'image', 'schema'];

const prompts: Readonly<Record<Task, string>> = {
  text: 'Say hello',
  tools: 'How is the weather in Paris and in Tokyo?',
  image: 'What is this?',
  schema: 'Invent a person',
};

const call = (city: string) => ({ name: 'weather', arguments: { city } });

/** Output of the simulated model for each prompt. */
const meanings: Readonly<Record<Task, readonly Meaning[]>> = {
  // The simulated provider repeats the first 200 characters of a prompt.
  text: [{ text: /^This is a simulated answer of \S+ You wrote: Say hello *(?: so)*(?: s?)?$/, calls: [] }],
  tools: [
    { text: /^$/, calls: [call('Paris'), call('Tokyo')] },
    {
      text: /^According to the tool: 21 degrees for {"city":"Paris"}; 21 degrees for {"city":"Tokyo"}$/,
      calls: [],
    },
  ],
  image: [{ text: /^I see 1 image\(s\): image\/png\. This is a simulated answer of .* What is this\?$/, calls: [] }],
  // The smallest value that matches `personSchema`.
  schema: [{ text: /^{"name":"sample name","age":1}$/, calls: [] }],
};

const chatRules: Readonly<Record<Task, string>> = {
  text: 'CHAT-10, CHAT-11, BILL-3, BILL-11',
  tools: 'CHAT-5, BILL-3, BILL-11',
  image: 'CHAT-6, BILL-3, BILL-11',
  schema: 'CHAT-8, BILL-3, BILL-11',
};
const nativeRules: Readonly<Record<Exclude<TextProtocol, 'chat_completions'>, string>> = {
  responses: 'RESP-1, BILL-3, BILL-11',
  messages: 'MSG-6, BILL-3, BILL-11',
  generate_content: 'GEM-4, BILL-3, BILL-11',
};

const rulesOf = (protocol: TextProtocol, task: Task, refused: string | undefined): string => {
  if (refused !== undefined) return 'GEN-11';
  return protocol === chat ? chatRules[task] : nativeRules[protocol];
};

/** A model in a protocol: all four tasks, plain and streamed. */
interface Subject {
  readonly protocol: TextProtocol;
  readonly model: string;
  readonly wire: Wire;
  /** Provider protocol that replaces `wire` for tools. */
  readonly toolWire?: Wire;
  readonly refused?: Partial<Readonly<Record<Task, string>>>;
}

const chat = 'chat_completions';
const content = 'generate_content';

const served: readonly Subject[] = [
  { protocol: chat, model: 'gpt-4.1-mini', wire: 'chat' },
  { protocol: chat, model: 'gpt-5.6-sol', wire: 'chat', toolWire: 'responses' },
  { protocol: chat, model: 'gpt-6.2-sol', wire: 'chat', toolWire: 'responses' },
  { protocol: chat, model: 'claude-haiku-4-5', wire: 'messages' },
  { protocol: chat, model: 'claude-sonnet-5-5', wire: 'messages' },
  { protocol: chat, model: 'gemini-4-argon', wire: 'generateContent' },
  { protocol: chat, model: 'gemini-3.5-flash-lite', wire: 'generateContent' },
  { protocol: 'responses', model: 'gpt-5.5-pro', wire: 'responses' },
  {
    protocol: 'responses',
    model: 'gpt-5.4-pro',
    wire: 'responses',
    refused: { schema: 'text.format: json_schema is not supported with this model' },
  },
  { protocol: 'messages', model: 'claude-haiku-4-5', wire: 'messages' },
  { protocol: 'messages', model: 'claude-sonnet-5-5', wire: 'messages' },
  { protocol: content, model: 'gemini-4-argon', wire: 'generateContent' },
  { protocol: content, model: 'gemini-3.5-flash-lite', wire: 'generateContent' },
];

const notAt = (place: string): Subject['refused'] => {
  const refusal = `is not available on this endpoint. Use ${place}`;
  return { text: refusal, tools: refusal, image: refusal, schema: refusal };
};
const atChat = notAt('/v1/chat/completions');

const unserved: readonly Subject[] = [
  { protocol: chat, model: 'gpt-5.5-pro', wire: 'responses', refused: notAt('/v1/responses') },
  { protocol: 'responses', model: 'gpt-6.2-sol', wire: 'responses', refused: atChat },
  { protocol: 'responses', model: 'claude-sonnet-5-5', wire: 'messages', refused: atChat },
  { protocol: 'responses', model: 'gemini-4-argon', wire: 'generateContent', refused: atChat },
  { protocol: 'messages', model: 'gpt-6.2-sol', wire: 'chat', refused: atChat },
  { protocol: 'messages', model: 'gemini-4-argon', wire: 'generateContent', refused: atChat },
  { protocol: content, model: 'gpt-6.2-sol', wire: 'chat', refused: atChat },
  { protocol: content, model: 'claude-sonnet-5-5', wire: 'messages', refused: atChat },
];

const modes = [false, true];

const toCells = ({ protocol, model, wire, toolWire = wire, refused = {} }: Subject): readonly Cell[] =>
  tasks.flatMap((task) =>
    modes.map((streamed) => ({
      title: `${rulesOf(protocol, task, refused[task])} ${protocol} ${titleOf(task, streamed, model)}`,
      protocol,
      task,
      question: { model, streamed, prompt: prompts[task] },
      wire: task === 'tools' ? toolWire : wire,
      answers: meanings[task],
      counts: {},
      positive: ['input', 'output'],
      refused: refused[task],
    })),
  );

const toClaimedCells = (claim: Claim): readonly Cell[] => {
  const { rules, protocol, model, wire, task = 'text', markers, bytes = 0, cacheFor, counts, positive = [] } = claim;
  return modes.map((streamed) => ({
    title: `${rules} ${protocol} ${titleOf(task, streamed, model)} claims ${markers}`,
    protocol,
    task,
    // The prompt differs per mode, because a repeated prompt would be read from the cache.
    question: {
      model,
      streamed,
      prompt: `${placed(prompts[task], markers, streamed)}${' so'.repeat(bytes / 3)}`,
      cacheFor,
    },
    wire,
    answers: meanings[task],
    counts,
    positive,
    refused: undefined,
  }));
};

const placed = (prompt: string, markers: string, first: boolean): string =>
  first ? `${markers} ${prompt}` : `${prompt} ${markers}`;

const titleOf = (task: Task, streamed: boolean, model: string): string =>
  `${model} ${task} ${streamed ? 'streamed' : 'plain'}`;

export const cells: readonly Cell[] = [...served, ...unserved].flatMap(toCells);
export const claimedCells: readonly Cell[] = claims.flatMap(toClaimedCells);
