import type { TextModel } from '../catalog/schema.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { tokensOfText } from './token-estimate.ts';

/** What stands around a member, written out: quotation marks, a colon, a comma, brackets. */
const AROUND_MEMBER = 1;
/** `true` and the like. */
const TOKENS_OF_WORD = 1;
/** 25 characters at most, and three digits are one token: https://tc39.es/ecma262/#sec-number.prototype.tostring */
const TOKENS_OF_NUMBER = 14;

const tokensOfNumber = (value: number): number => {
  if (!Number.isSafeInteger(value)) return TOKENS_OF_NUMBER;
  let tokens = 2;
  for (let rest = Math.abs(value); rest >= 1_000; rest /= 1_000) tokens += 1;
  return tokens;
};

/**
 * How many tokens the text of a prompt may have (BILL-5): every string, name and number of what is sent, whatever it is for, since
 * vendors write all of it into the prompt in ways of their own. `inline` are the images and recordings that stand in the body, in
 * its order; they are no text. Nothing above the model's context is counted to its end.
 *
 * A body is nested 64 deep at most.
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
    // Wherever the same characters stand twice, leaving out either is the same.
    if (text === inline[skipped]) skipped += 1;
    else tokens += tokensOfText(text, enough - tokens);
  };
  const addObject = (object: JsonObject): void => {
    for (const [name, member] of Object.entries(object)) {
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
