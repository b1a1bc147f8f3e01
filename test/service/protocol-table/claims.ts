import type { TokenUsage } from '../../../lambdas/core/pricing/charge.ts';
import type { Wire } from '../../support/protocol-usage.ts';
import type { Question, Task, TextProtocol } from './client.ts';

/** A usage that a simulated provider reports, and the counts that the gateway must derive from it. */
export interface Claim extends Pick<Question, 'cacheFor'> {
  readonly rules: string;
  readonly protocol: TextProtocol;
  readonly model: string;
  readonly wire: Wire;
  readonly task?: Task;
  readonly markers: string;
  /** Bytes that the prompt must have, so that the claimed count is plausible (BILL-7). */
  readonly bytes?: number;
  readonly counts: Partial<TokenUsage>;
  /** Counts that must be above 0. */
  readonly positive?: readonly (keyof TokenUsage)[];
}

const chat = 'chat_completions';
const content = 'generate_content';

/** Every provider counts 30 of the 70 output tokens as reasoning. The meaning of 900 input tokens differs. */
const markers = '[[usage-prompt 900]] [[cached 300]] [[tokens 70]] [[reasoning 30]]';
const writing = `${markers} [[cache-write 50]]`;
const answered = { cacheRead: 300, output: 40, reasoning: 30 };
/** The input of OpenAI and Google includes cached tokens and cache writes. */
const inside = { ...answered, input: 600, cacheWrite: 0, cacheWrite1h: 0 };
const written = { ...inside, input: 550, cacheWrite: 50 };
/** The input of Anthropic includes neither cached tokens nor cache writes. */
const beside = { ...answered, input: 900 };
const unwritten = { ...beside, cacheWrite: 0, cacheWrite1h: 0 };

const counted: readonly Omit<Claim, 'rules'>[] = [
  { protocol: chat, model: 'gpt-6.2-sol', wire: 'chat', markers: writing, counts: written },
  { protocol: chat, model: 'gpt-5.6-sol', wire: 'responses', task: 'tools', markers, counts: inside },
  { protocol: chat, model: 'claude-sonnet-5-5', wire: 'messages', markers, counts: unwritten },
  { protocol: chat, model: 'gemini-4-argon', wire: 'generateContent', markers, counts: inside },
  { protocol: 'responses', model: 'gpt-5.5-pro', wire: 'responses', markers: writing, counts: written },
  { protocol: content, model: 'gemini-4-argon', wire: 'generateContent', markers, counts: inside },
];

const caching: readonly Omit<Claim, 'rules'>[] = [
  { protocol: 'messages', model: 'claude-sonnet-5-5', wire: 'messages', markers, counts: unwritten },
  {
    protocol: 'messages',
    model: 'claude-sonnet-5-5',
    wire: 'messages',
    markers,
    cacheFor: '5m',
    counts: { ...beside, cacheWrite1h: 0 },
    positive: ['cacheWrite'],
  },
  {
    protocol: 'messages',
    model: 'claude-haiku-4-5',
    wire: 'messages',
    markers,
    cacheFor: '1h',
    counts: { ...beside, cacheWrite: 0 },
    positive: ['cacheWrite1h'],
  },
];

/** A price tier starts above its bound, and the whole prompt counts, cached or not. */
const long = (model: string, above: number, place: Pick<Claim, 'protocol' | 'wire' | 'task'>) =>
  [above, above + 1].map((prompt) => ({
    ...place,
    model,
    markers: `[[usage-prompt ${prompt}]]`,
    bytes: prompt,
    counts: { input: prompt, cacheRead: 0 },
  }));

const tiered: readonly Omit<Claim, 'rules'>[] = [
  ...long('gpt-6.2-sol', 272_000, { protocol: chat, wire: 'chat' }),
  ...long('gpt-5.6-sol', 272_000, { protocol: chat, wire: 'responses', task: 'tools' }),
  ...long('claude-haiku-5-5', 100_000, { protocol: chat, wire: 'messages' }),
  ...long('gemini-3.1-pro-preview', 200_000, { protocol: chat, wire: 'generateContent' }),
  ...long('gpt-5.5-pro', 272_000, { protocol: 'responses', wire: 'responses' }),
  ...long('gemini-3.1-pro-preview', 200_000, { protocol: content, wire: 'generateContent' }),
  ...[40_000, 40_001].map((cached) => ({
    protocol: 'messages' as const,
    model: 'claude-haiku-5-5',
    wire: 'messages' as const,
    markers: `[[usage-prompt 60000]] [[cached ${cached}]]`,
    bytes: 60_000 + cached,
    counts: { input: 60_000, cacheRead: cached },
  })),
];

export const claims: readonly Claim[] = [
  ...counted.map((row) => ({ ...row, rules: 'BILL-11, BILL-18' })),
  ...caching.map((row) => ({ ...row, rules: 'BILL-11, BILL-12, MSG-5' })),
  ...tiered.map((row) => ({ ...row, rules: 'BILL-3, CAT-2' })),
];
