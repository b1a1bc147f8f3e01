/**
 * Simulated tokenizer. A token is a run of at most five ASCII characters with the space before it, one ideograph, a run
 * of white space, or up to three letters of another script. It is deterministic and close to real counts.
 */
const tokenPattern =
  / ?[!-~]{1,5}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\s+|[^\s!-~\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,3}/gu;

/** A text above this length is estimated, not tokenized: its exact count does not matter. */
const countedMax = 100_000;

/** The joined pieces are the text. */
export function splitTokens(text: string): readonly string[] {
  return text.match(tokenPattern) ?? [];
}

export function countTokens(text: string): number {
  if (text.length > countedMax) return Math.ceil(text.length / 5);
  return splitTokens(text).length;
}
