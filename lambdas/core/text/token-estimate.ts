import type { TextModel } from '../catalog/schema.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { PromptSize, TextRequest } from './conversation.ts';
import {
  afterCapital,
  afterSmall,
  ascii,
  IN_LONG_WORD,
  LONG_WORD,
  letterPairs,
  repeated,
  scripts,
  TEXT,
} from './token-rates.ts';

/** Rates are whole hundredths of a token. */
const HUNDREDTHS = 100;

const LONG_RUN = 16;

/** Code for every character that is not ASCII. */
const FOREIGN = 0x7f;

const LINE = 0x0a;

const SPACE = 0x20;

const TAB = 0x09;

type Kind = 'small' | 'capital' | 'digit' | 'space' | 'line' | 'mark' | 'control';

const kindOf = (code: number): Kind => {
  if (code >= 0x61 && code <= 0x7a) return 'small';
  if (code >= 0x41 && code <= 0x5a) return 'capital';
  if (code >= 0x30 && code <= 0x39) return 'digit';
  if (code === SPACE) return 'space';
  if (code === LINE || code === 0x0d) return 'line';
  return code > SPACE && code < FOREIGN ? 'mark' : 'control';
};

/** Level of a pair of letters, from `letterPairs`. */
const levelOf = (before: number, code: number): 0 | 1 | 2 | 3 => {
  const level = Number(letterPairs[(before & 31) - 1]?.charAt((code & 31) - 1));
  return level === 0 || level === 1 || level === 2 ? level : 3;
};

const rateOfLetter = (before: number, code: number): number => {
  const [kind, previous] = [kindOf(code), kindOf(before)];
  if (previous === 'capital') return afterCapital[levelOf(before, code)];
  if (previous === 'small') return kind === 'small' ? afterSmall[levelOf(before, code)] : ascii.word;
  if (previous === 'space') return kind === 'small' ? ascii.wordAfterSpace : ascii.capitalAfterSpace;
  return previous === 'mark' && kind === 'small' ? ascii.wordAfterMark : ascii.word;
};

const rateOfDigit = (previous: Kind): number => {
  if (previous === 'space') return ascii.digitAfterSpace;
  return previous === 'digit' ? ascii.digitAfterDigit : ascii.digit;
};

const rateOfMark = (previous: Kind, isSame: boolean): number => {
  if (previous === 'space') return ascii.markAfterSpace;
  if (isSame) return ascii.markTwice;
  return previous === 'mark' ? ascii.markAfterMark : ascii.mark;
};

/** A single space counts with the text that follows it. */
const rateOfSpace = (previous: Kind, before: number): number => {
  if (previous === 'space') return ascii.spaceAfterSpace;
  const isApart = previous === 'line' || (previous === 'control' && before !== FOREIGN);
  return isApart ? ascii.spaceApart : 0;
};

const rateOfLine = (previous: Kind): number => {
  if (previous === 'mark') return ascii.lineAfterMark;
  return previous === 'line' ? ascii.lineAfterLine : ascii.line;
};

/** Returns the cost of an ASCII character after another. */
const rateOf = (before: number, code: number): number => {
  const rates: Readonly<Record<Kind, (previous: Kind) => number>> = {
    small: () => rateOfLetter(before, code),
    capital: () => rateOfLetter(before, code),
    digit: rateOfDigit,
    mark: (previous) => rateOfMark(previous, before === code),
    space: (previous) => rateOfSpace(previous, before),
    line: rateOfLine,
    control: () => ascii.control,
  };
  return rates[kindOf(code)](kindOf(before));
};

const RULERS = '-=*#_~./!+:;%';

/** Returns the cost of an ASCII character after two of the same, and after many. */
const rateAgain = (code: number): { readonly again: number; readonly long: number } => {
  const kind = kindOf(code);
  if (kind === 'space') return repeated.space;
  if (code === LINE || code === TAB) return repeated.line;
  if (kind === 'mark') return RULERS.includes(String.fromCharCode(code)) ? repeated.ruler : repeated.mark;
  const rate = rateOf(code, code);
  return { again: rate, long: rate };
};

const codes = Array.from({ length: 128 }, (_, code) => code);

/** Indexed by the previous code and the code. */
const pairRates = Uint16Array.from(codes.flatMap((before) => codes.map((code) => rateOf(before, code))));

const againRates = Uint16Array.from(codes, (code) => rateAgain(code).again);

const longRates = Uint16Array.from(codes, (code) => rateAgain(code).long);

/** Index in `scripts` of each code unit, counted from 1. */
const scriptOf = new Uint8Array(0x1_0000);

const firstRates = Uint16Array.from([0, ...scripts.map(([, first]) => first)]);

const nextRates = Uint16Array.from([0, ...scripts.map(([, , next]) => next)]);

for (const [index, [from]] of scripts.entries()) scriptOf.fill(index + 1, from);

const at = (rates: Uint16Array, index: number): number => rates[index] ?? 0;

/** Whether the code is a letter. Upper and lower case differ in one bit. */
const isLetter = (code: number): boolean => (code | SPACE) >= 0x61 && (code | SPACE) <= 0x7a;

/** `run` counts equal characters in a row, `letters` counts letters in a row. */
const rateInRun = (run: number, letters: number, before: number, code: number): number => {
  if (letters > LONG_WORD) return Math.max(IN_LONG_WORD, at(pairRates, (before << 7) | code));
  if (run < 2) return at(pairRates, (before << 7) | code);
  return at(run < LONG_RUN ? againRates : longRates, code);
};

/**
 * Counts the characters after an index that equal the one there and cost the same, because a text can have millions of
 * them. Letters count one by one.
 */
const equalAfter = (text: string, index: number, run: number, letters: number): number => {
  if (run < LONG_RUN || letters > 0) return 0;
  const code = text.charCodeAt(index);
  let equal = 0;
  while (text.charCodeAt(index + equal + 1) === code) equal += 1;
  return equal;
};

/**
 * Estimates the tokens of a text from its characters and their neighbors (BILL-5). The result is hardly ever below the
 * count of OpenAI's `o200k_base`, and never above the bytes of the text. One pass without allocation. Stops soon
 * after `enough`.
 */
export const tokensOfText = (text: string, enough = Number.MAX_SAFE_INTEGER / HUNDREDTHS): number => {
  const most = enough * HUNDREDTHS;
  let sum = TEXT;
  let before = LINE;
  let script = 0;
  let run = 0;
  let letters = 0;
  for (let index = 0; index < text.length && sum < most; index += 1) {
    const code = text.charCodeAt(index);
    if (code > FOREIGN) {
      const own = scriptOf[code] ?? 0;
      sum += at(own === script ? nextRates : firstRates, own);
      script = own;
      before = FOREIGN;
      run = 0;
      letters = 0;
    } else {
      run = code === before ? run + 1 : 0;
      letters = isLetter(code) ? letters + 1 : 0;
      sum += rateInRun(run, letters, before, code);
      script = 0;
      before = code;
      const equal = equalAfter(text, index, run, letters);
      sum += equal * at(longRates, code);
      index += equal;
    }
  }
  return Math.min(Math.ceil(sum / HUNDREDTHS), Buffer.byteLength(text));
};

/** Tokens for the characters around a member: quotation marks, a colon, a comma, brackets. */
const AROUND_MEMBER = 1;

/** For `true`, `false` and `null`. */
const TOKENS_OF_WORD = 1;

/**
 * A number has at most 25 characters, and three digits are one token:
 * https://tc39.es/ecma262/#sec-number.prototype.tostring
 */
const TOKENS_OF_NUMBER = 14;

const tokensOfNumber = (value: number): number => {
  if (!Number.isSafeInteger(value)) return TOKENS_OF_NUMBER;
  let tokens = 2;
  for (let rest = Math.abs(value); rest >= 1_000; rest /= 1_000) tokens += 1;
  return tokens;
};

/**
 * Returns the maximum number of text tokens of a prompt (BILL-5). It counts every string, name and number of the body,
 * because providers write all of them into the prompt in their own format. `inline` are the images and recordings in
 * the body, in its order; they do not count as text. Counting stops above the model's context.
 *
 * A body has at most 64 levels.
 */
export const promptTextTokens = (
  sent: JsonValue,
  inline: readonly string[],
  { limits, inputTokenFactor = 1 }: Pick<TextModel, 'limits' | 'inputTokenFactor'>,
): number => {
  const enough = Math.ceil(limits.contextTokens / Math.min(inputTokenFactor, 1));
  let tokens = 0;
  let skipped = 0;
  const addText = (text: string): void => {
    // Leaves out the next inline content. If another text has the same characters, it does not matter which of the two
    // is left out.
    if (text === inline[skipped]) skipped += 1;
    else tokens += tokensOfText(text, enough - tokens);
  };
  const addObject = (object: JsonObject): void => {
    for (const name of Object.keys(object)) {
      const member = object[name];
      if (member === undefined) continue;
      tokens += tokensOfText(name, enough - tokens);
      add(member);
    }
  };
  const add = (value: JsonValue): void => {
    if (tokens >= enough) return;
    tokens += AROUND_MEMBER;
    if (typeof value === 'string') addText(value);
    else if (isJsonObject(value)) addObject(value);
    else if (Array.isArray(value)) value.forEach(add);
    else tokens += typeof value === 'number' ? tokensOfNumber(value) : TOKENS_OF_WORD;
  };
  add(sent);
  return tokens;
};

/** Tokens that a provider adds around a conversation. */
const PROMPT_OVERHEAD_TOKENS = 64;

/** Longest token of the providers' vocabularies, in bytes. */
const BYTES_PER_TOKEN_MAX = 128;

/** Tokens that a provider adds for tools, besides the tools themselves. */
const TOKENS_AROUND_TOOLS = 1_000;

/**
 * Returns the maximum number of tokens of a prompt: the estimate of its text (docs/internals/token-estimate.md), at
 * most one token per byte, plus the provider's additions and the images, but at most the model's context. A prompt with
 * a recording or a PDF document counts as the whole context, because its bytes do not limit its tokens: hours of
 * silence fit into a few kilobytes, and so do hundreds of compressed pages.
 */
export const promptTokensAtMost = (
  model: TextModel,
  { prompt, usesTools }: Pick<TextRequest, 'prompt' | 'usesTools'>,
): number => {
  const { contextTokens } = model.limits;
  if (prompt.recordings || prompt.documents) return contextTokens;
  const around = PROMPT_OVERHEAD_TOKENS + (usesTools ? TOKENS_AROUND_TOOLS : 0);
  const { bytes, textTokens = bytes, addedTokens = 0 } = prompt;
  const text = Math.ceil((Math.min(textTokens, bytes) + addedTokens + around) * (model.inputTokenFactor ?? 1));
  const images = prompt.images.reduce((sum, detail) => sum + model.imageTokensMax[detail], 0);
  return Math.min(text + images, contextTokens);
};

/** Members whose tokens are not limited by their bytes: encrypted reasoning, and the continuation of a response. */
const opaqueMembers: ReadonlySet<string> = new Set([
  'encrypted_content',
  'signature',
  'thoughtSignature',
  'thought_signature',
  'continuationToken',
  'previous_response_id',
]);

/** Whether a body has a member with a value whose tokens are not limited by its bytes. A body has at most 64 levels. */
export const hasOpaqueParts = (value: JsonValue | undefined): boolean => {
  if (Array.isArray(value)) return value.some(hasOpaqueParts);
  if (!isJsonObject(value)) return false;
  return (
    value.type === 'redacted_thinking' ||
    Object.keys(value).some(
      (name) => (opaqueMembers.has(name) && typeof value[name] === 'string') || hasOpaqueParts(value[name]),
    )
  );
};

/** Tokens that a provider can add for each tool, and to every prompt, in the bound of plausible counts (BILL-7). */
const TOKENS_PER_TOOL_MAX = 1_000;
const TOKENS_AROUND_PROMPT_MAX = 2_000;

/**
 * Growth of a text, in bytes, if a provider normalizes it to NFC before it counts: https://unicode.org/faq/normalization.
 * Only a tokenizer with a factor can do this: OpenAI's tokenizers do not, and Claude's do.
 */
const NORMALIZED_GROWTH_MAX = 3;

/** Number of tools of a request in any protocol; a list of function declarations counts with its length. */
const toolsIn = ({ tools }: JsonObject): number =>
  Array.isArray(tools)
    ? tools.reduce<number>((sum, tool) => {
        const functions = isJsonObject(tool) ? tool.functionDeclarations : undefined;
        return sum + (Array.isArray(functions) ? functions.length : 1);
      }, 0)
    : 0;

/**
 * Returns the number of prompt tokens above which a count of the provider is implausible (BILL-7): one token per byte,
 * three if the provider can normalize the text, and what the provider can add. If the gateway cannot know the size of a part, the bound is the model's context.
 */
export const promptTokensPlausible = (
  model: TextModel,
  { prompt, body }: Pick<TextRequest, 'prompt' | 'body'>,
): number => {
  const { contextTokens } = model.limits;
  const { bytes, addedTokens = 0, images, recordings, documents, hasOpaqueParts } = prompt;
  if (recordings || documents || hasOpaqueParts) return contextTokens;
  const media = images.reduce((sum, detail) => sum + model.imageTokensMax[detail], 0);
  const around = TOKENS_AROUND_PROMPT_MAX + TOKENS_PER_TOOL_MAX * toolsIn(body);
  // A factor below 1 is an average, not a bound.
  const factor = Math.max(model.inputTokenFactor ?? 1, 1);
  const tokensPerByte = factor > 1 ? Math.max(factor, NORMALIZED_GROWTH_MAX) : 1;
  return Math.min(Math.ceil(bytes * tokensPerByte + (media + addedTokens + around) * factor), contextTokens);
};

/** Returns the minimum number of tokens of a prompt. Above the context, the prompt cannot fit (CHAT-13). */
export const promptTokensAtLeast = (prompt: PromptSize): number => Math.floor(prompt.bytes / BYTES_PER_TOKEN_MAX);
