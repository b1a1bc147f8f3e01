import { hashApiKey } from './api-key.ts';

/** What API keys are hashed with. */
export interface Peppers {
  /** Of keys that are made now. */
  readonly pepper: string;
  /** Those that keys may still be hashed with, the newest first. */
  readonly olderPeppers: readonly string[];
}

/** Of every secret that somebody here has made up. */
export const LETTERS_LEAST = 16;

/** One on each line, the newest first. Throws an Error, which quotes none of them. */
export const parsePeppers = (text: string): Peppers => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const [pepper, ...olderPeppers] = new Set(lines.filter((line) => line !== ''));
  if (pepper === undefined || [pepper, ...olderPeppers].some(({ length }) => length < LETTERS_LEAST)) {
    throw new Error(`a pepper has at least ${LETTERS_LEAST} letters, and each stands on a line of its own`);
  }
  return { pepper, olderPeppers };
};

/** What a key may be stored as, the likeliest first. */
export const hashesOf = ({ pepper, olderPeppers }: Peppers, apiKey: string): readonly string[] =>
  [pepper, ...olderPeppers].map((one) => hashApiKey(one, apiKey));
