/**
 * The simulated tokenizer: a run of at most five ASCII characters with the blank before it, one ideograph, a run of white
 * space, or up to three letters of any other script. Nothing real, but the same for everybody, and close to real counts.
 */
const tokenPattern =
  / ?[!-~]{1,5}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\s+|[^\s!-~\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,3}/gu;

/** Beyond this many characters a text is measured, not split: nobody waits for the exact number. */
const countedMax = 100_000;

/** Joined, the pieces are the text again. */
export function splitTokens(text: string): readonly string[] {
  return text.match(tokenPattern) ?? [];
}

export function countTokens(text: string): number {
  if (text.length > countedMax) return Math.ceil(text.length / 5);
  return splitTokens(text).length;
}
