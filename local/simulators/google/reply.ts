import type { Composed } from '../compose.ts';
import type { Scenario } from '../scenario.ts';
import { newThoughtSignature } from './function-turns.ts';
import { type Counts, toUsageMetadata } from './usage.ts';

export type ReplyPart = Readonly<Record<string, unknown>>;

/** One response, complete or in pieces. */
export type Reply = {
  readonly head: { readonly modelVersion: string; readonly responseId: string };
  /** Whether the prompt was blocked: there are no candidates. */
  readonly promptBlocked: boolean;
  readonly thoughts: readonly ReplyPart[];
  /** Pieces of text, or complete function calls. */
  readonly parts: readonly ReplyPart[];
  /** Image after the text, in one piece. */
  readonly image?: ReplyPart;
  /** Thought signature for a text. Calls have their own. */
  readonly textSignature?: string;
  readonly finish: Readonly<Record<string, unknown>>;
  /** Undefined if the response must not have usage. */
  readonly counts?: Counts;
};

const promptFeedback = { blockReason: 'PROHIBITED_CONTENT' };
const thoughtSummary = '**Considering the request**\n\nWorking out what to say.\n';
const imageBlocked = 'Unable to show the generated image. It may violate the policies on generative AI.';
const safetyRatings = [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }];

export type Limits = {
  readonly includeThoughts: boolean;
  readonly continuationToken?: string;
  readonly saysText: boolean;
  readonly drawing?: Drawn;
};

/** Result of the requested image. Its draft is a thought. */
export type Drawn =
  | { readonly kind: 'drawn'; readonly part: ReplyPart; readonly draft?: ReplyPart }
  | { readonly kind: 'failed' | 'blocked' | 'cut' };

export function toReply(
  modelVersion: string,
  composed: Composed,
  counts: Counts,
  limits: Limits,
  scenario: Scenario,
): Reply {
  const isBlocked = composed.ending === 'blocked' || scenario.modelRefuses === true;
  const promptBlocked = composed.ending === 'blocked' && scenario.contentFilterAfter === 0;
  const parts = isSilent(limits, scenario) ? [] : toParts(composed);
  const drawn = isBlocked ? undefined : drawnIn(limits);
  const isThinking = composed.reasoningTokens > 0 && !promptBlocked;
  const spent = {
    ...counts,
    candidates: parts.length === 0 && (isBlocked || limits.drawing) ? 0 : counts.candidates,
    image: drawn ? counts.image : 0,
    thoughts: promptBlocked ? 0 : counts.thoughts,
  };
  return {
    head: { modelVersion, responseId: Buffer.from(crypto.randomUUID()).toString('base64url').slice(0, 23) },
    promptBlocked,
    thoughts: toThoughts(isThinking && limits.includeThoughts, drawn),
    image: drawn?.part,
    parts,
    textSignature: isThinking && !isBlocked && isText(parts) ? newThoughtSignature() : undefined,
    finish: isBlocked ? { finishReason: 'SAFETY', safetyRatings } : toFinish(composed, limits),
    counts: scenario.noUsage ? undefined : spent,
  };
}

function drawnIn({ drawing }: Limits): Extract<Drawn, { readonly kind: 'drawn' }> | undefined {
  return drawing?.kind === 'drawn' ? drawing : undefined;
}

function isText([first]: readonly ReplyPart[]): boolean {
  return first?.text !== undefined;
}

function isSilent({ saysText, drawing }: Limits, { modelRefuses }: Scenario): boolean {
  return modelRefuses === true || !saysText || drawing?.kind === 'blocked';
}

function toThoughts(areTold: boolean, drawn: ReturnType<typeof drawnIn>): readonly ReplyPart[] {
  if (!areTold) return [];
  const summary = { text: thoughtSummary, thought: true };
  return drawn?.draft ? [summary, drawn.draft] : [summary];
}

/**
 * A call is sent completely or not at all: one that the token limit cut is left out. Parallel calls share the signature
 * of the first one.
 */
function toParts({ content, toolCalls }: Composed): readonly ReplyPart[] {
  if (toolCalls.length === 0) return content.map((text) => ({ text }));
  const calls = toolCalls.flatMap(({ name, argumentPieces }) => {
    const args = parseOrNothing(argumentPieces.join(''));
    return args === undefined ? [] : [{ functionCall: { name, args, id: crypto.randomUUID().slice(0, 8) } }];
  });
  return calls.map((call, index) => (index === 0 ? { ...call, thoughtSignature: newThoughtSignature() } : call));
}

/**
 * Sources: https://github.com/minimaxir/gemimg/issues/5 (NO_IMAGE), https://github.com/google-gemini/.github/issues/21
 * (IMAGE_SAFETY)
 */
function toFinish({ ending }: Composed, { continuationToken, drawing }: Limits): Reply['finish'] {
  if (drawing?.kind === 'blocked') return { finishReason: 'IMAGE_SAFETY', finishMessage: imageBlocked };
  if (drawing?.kind === 'failed') return { finishReason: 'NO_IMAGE' };
  if (drawing?.kind === 'cut') return { finishReason: 'MAX_TOKENS' };
  if (ending !== 'length') return { finishReason: 'STOP' };
  return continuationToken === undefined
    ? { finishReason: 'MAX_TOKENS' }
    : { finishReason: 'CONTINUATION', continuationToken };
}

export function toResponse({ head, counts, thoughts, textSignature, parts, image, finish, promptBlocked }: Reply) {
  const usage = counts && { usageMetadata: toUsageMetadata(counts) };
  if (promptBlocked) return { promptFeedback, ...usage, ...head };
  const spoken = [...thoughts, ...joinTexts(parts, textSignature), ...(image ? [image] : [])];
  return { candidates: [toCandidate(spoken, finish)], ...usage, ...head };
}

/**
 * Returns the chunks of a stream, each with the usage so far. With `usageAlone` the usage comes once, after the last
 * candidate.
 */
export function* toChunks(reply: Reply, usageAlone: boolean): Generator<object> {
  const { head, counts, parts, image, finish, textSignature } = reply;
  if (reply.promptBlocked) {
    yield toResponse(reply);
    return;
  }
  let imageTokens = 0;
  const usageAt = (share: number) => {
    if (!counts) return undefined;
    const candidates = Math.round(counts.candidates * share);
    return { usageMetadata: toUsageMetadata({ ...counts, candidates, image: imageTokens }) };
  };
  const toChunk = (spoken: readonly ReplyPart[], share: number, end?: Reply['finish']) => ({
    candidates: [toCandidate(spoken, end)],
    ...(usageAlone ? {} : usageAt(share)),
    ...head,
  });
  for (const thought of reply.thoughts) yield toChunk([thought], 0);
  for (const [index, part] of parts.entries()) yield toChunk([part], (index + 1) / parts.length);
  imageTokens = counts?.image ?? 0;
  if (image) yield toChunk([image], 1);
  // A text ends with an empty part that carries the signature.
  yield toChunk(textSignature === undefined ? [] : [{ text: '', thoughtSignature: textSignature }], 1, finish);
  if (usageAlone && counts) yield { ...usageAt(1), ...head };
}

function toCandidate(parts: readonly ReplyPart[], finish: Reply['finish'] = {}) {
  const content = parts.length > 0 ? { parts, role: 'model' } : { role: 'model' };
  return { content, ...finish, index: 0 };
}

function joinTexts(parts: readonly ReplyPart[], thoughtSignature: string | undefined): readonly ReplyPart[] {
  if (parts.length === 0 || parts.some(({ text }) => text === undefined)) return parts;
  const text = parts.map((part) => part.text).join('');
  return [thoughtSignature === undefined ? { text } : { text, thoughtSignature }];
}

function parseOrNothing(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
