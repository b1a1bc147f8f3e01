import type { ErrorCode } from '../errors/error-codes.ts';
import { type ErrorDetails, GatewayError } from '../errors/gateway-error.ts';
import { allowanceUseOf, type UncollectedOf } from '../paid-call/call-report.ts';
import type { Deadline } from '../paid-call/deadline.ts';
import type { Terms } from '../paid-call/with-paid-call.ts';
import { answerTokensOf, promptTokensOf, type TokenUsage } from '../pricing/charge.ts';
import type { TextProtocol } from './conversation.ts';
import type { TextDelta, WireEvent } from './text-wire.ts';
import { tokensOfText } from './token-estimate.ts';

/** Error for output that the provider produced and the client does not pay for. */
export class UnchargedOutput extends GatewayError {
  /** The provider's counts; undefined if it reported none above 0. */
  readonly usage: TokenUsage | undefined;

  constructor(code: ErrorCode, message: string, usage: TokenUsage | undefined, details: ErrorDetails = {}) {
    super(code, message, { ...details, usesAllowance: true });
    this.usage = usage && promptTokensOf(usage) + answerTokensOf(usage) > 0 ? usage : undefined;
  }
}

/** Members of a protocol's events that contain new output as text. Other events repeat it. */
const outputMembers: Readonly<Record<TextProtocol, readonly string[]>> = {
  chat_completions: ['"content"', '"refusal"', '"reasoning_content"', '"arguments"'],
  responses: ['"delta"'],
  messages: ['"text"', '"thinking"', '"partial_json"'],
  generate_content: ['"text"'],
};

/**
 * Length of the events that are counted together, in UTF-16 units. Most streams are shorter, and end without a count.
 */
const COUNTED_LENGTH = 65_536;

/** Counts the output of one call that was forwarded to the client. Keeps at most `COUNTED_LENGTH` of it, and one event. */
export class ForwardedOutput {
  readonly #members: readonly string[];
  #pending = '';
  #isNative = false;
  #tokens = 0;
  /** Whether the provider has accepted the call and started a stream. */
  isStream = false;
  hasContent = false;
  /** Returns the usage that the provider has reported so far. */
  usageSoFar: () => TokenUsage | undefined = () => undefined;

  constructor(protocol: TextProtocol) {
    this.#members = outputMembers[protocol];
  }

  /** A stream is native throughout, or neutral throughout. */
  add(event: Exclude<WireEvent, { readonly kind: 'end' }>): void {
    if (event.announcement) return;
    this.hasContent = true;
    this.#isNative = event.kind === 'native';
    this.#pending += event.kind === 'native' ? event.events.join('') : event.deltas.map(textOf).join('');
    if (this.#pending.length >= COUNTED_LENGTH) this.#count();
  }

  /** Estimated tokens so far. Images and hidden reasoning are not included. */
  get tokens(): number {
    if (this.#pending !== '') this.#count();
    return this.#tokens;
  }

  #count(): void {
    const events = this.#pending;
    const text = this.#isNative ? this.#members.map((member) => outputIn(events, member)).join('') : events;
    this.#tokens += text === '' ? 0 : tokensOfText(text);
    this.#pending = '';
  }
}

const textOf = (delta: TextDelta): string => (delta.kind === 'tool_call' ? delta.name : delta.text);

const startOfString = /\s*:\s*"/y;

/** Joins the texts of a member in the JSON of all events. A search for its name alone is faster than an expression. */
const outputIn = (events: string, member: string): string => {
  let output = '';
  for (let at = events.indexOf(member); at !== -1; at = events.indexOf(member, at)) {
    at += member.length;
    startOfString.lastIndex = at;
    if (!startOfString.test(events)) continue;
    const from = startOfString.lastIndex;
    at = endOfString(events, from);
    output += unescaped(events.slice(from, at));
  }
  return output;
};

/** Returns the place of the quote that ends a JSON string. */
const endOfString = (json: string, from: number): number => {
  for (let index = from; ; index += 1) {
    index = json.indexOf('"', index);
    if (index === -1) return json.length;
    let slashes = 0;
    while (json[index - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return index;
  }
};

const unescaped = (text: string): string => {
  if (!text.includes('\\')) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
};

interface Uncharged extends Pick<Terms, 'chargeFor'> {
  readonly promptTokens: number;
  readonly output: ForwardedOutput;
  readonly deadline: Pick<Deadline, 'hasCut'>;
}

/**
 * Estimates the cost of a call that ends without a charge (BILL-21): the provider's counts, or else the estimate of the
 * prompt and of the output that was forwarded, at the prices of the hold.
 */
export const estimateUncollected =
  ({ chargeFor, promptTokens, output, deadline }: Uncharged): UncollectedOf =>
  (thrown) => {
    const isBlockedStream = output.isStream && isBlocked(thrown);
    const usesAllowance = isBlockedStream ? 'yes' : allowanceUseOf(thrown, deadline, output.hasContent);
    const usage = thrown instanceof UnchargedOutput ? thrown.usage : undefined;
    if (usesAllowance === 'no' && !output.hasContent) return undefined;
    return { picos: chargeFor(usage ?? estimateOf(promptTokens, output)).amountPicos, usesAllowance };
  };

const isBlocked = (thrown: unknown): boolean => thrown instanceof GatewayError && thrown.code === 'content_filter';

const noTokens: TokenUsage = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

/**
 * Returns the counts that the provider has reported so far, and estimates what they lack: an unreported prompt, and
 * output that was forwarded beyond the reported one.
 */
const estimateOf = (promptTokens: number, output: ForwardedOutput): TokenUsage => {
  const reported = output.usageSoFar() ?? noTokens;
  const unreported = Math.max(0, output.tokens - answerTokensOf(reported));
  return {
    ...reported,
    ...(promptTokensOf(reported) === 0 && { input: promptTokens }),
    output: reported.output + unreported,
  };
};
