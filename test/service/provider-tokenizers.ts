import { encode as encodeOlder } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { RecordedRequest } from '../../local/simulators/server.ts';

/** Makes the tokenizers treat special tokens as plain text. */
const asText = { disallowedSpecial: new Set<string>() };

/** Tokens that a provider adds to each message and to all tools. */
const TOKENS_PER_MESSAGE = 4;
const TOKENS_AROUND_TOOLS = 350;

const DIGITS = /\d/g;

/** Tokens of a text under each kind of vocabulary: current, older, and one in which each digit is a token. */
const tokenizers: readonly ((text: string) => number)[] = [
  (text) => encode(text, asText).length,
  (text) => encodeOlder(text, asText).length,
  (text) => encode(text.replace(DIGITS, ''), asText).length + (text.match(DIGITS)?.length ?? 0),
];

/** Counts of texts that were counted before, because many requests have the same texts. */
const counted = new Map<string, number>();

const tokensOf = (text: string): number => {
  const known = counted.get(text) ?? Math.max(...tokenizers.map((count) => count(text)));
  counted.set(text, known);
  return known;
};

type Json = { readonly [name: string]: unknown };
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

const tokensOfContent = (content: unknown): number => {
  if (typeof content === 'string') return tokensOf(content);
  if (Array.isArray(content)) return content.reduce<number>((sum, part) => sum + tokensOfContent(part), 0);
  return isObject(content) ? tokensOfContent(content.text) : 0;
};

/**
 * Counts the prompt of a chat completion or a response as the provider with the largest count would, independently of
 * the gateway's estimate.
 */
export const promptTokensOf = ({ body }: RecordedRequest): number => {
  if (!isObject(body)) return 0;
  const messages = [body.messages, body.input].flatMap((list) => (Array.isArray(list) ? list : []));
  const tools = body.tools === undefined ? 0 : TOKENS_AROUND_TOOLS + tokensOf(JSON.stringify(body.tools));
  return messages.reduce<number>(
    (sum, message) => sum + TOKENS_PER_MESSAGE + tokensOfContent(isObject(message) ? message.content : undefined),
    tools,
  );
};
