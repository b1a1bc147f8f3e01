/** More than any answer that is read as a whole may have, in bytes; what is longer is not read into memory. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Above the longest token there is, 128 blanks: an answer can be made of nothing else. */
const BYTES_PER_TOKEN = 160;
/** A token with its logarithm and its bytes, as indented JSON. */
const BYTES_PER_LOGPROB = 400;

export interface AnswerShape {
  /** Over all choices. */
  readonly tokens: number;
  /** Alternatives per token plus the token itself; 0 without logprobs. */
  readonly logprobsPerToken: number;
}

/** Whether an answer of that many tokens can be read. One that cannot would be paid to the vendor and lost. */
export const isReadable = ({ tokens, logprobsPerToken }: AnswerShape): boolean =>
  tokens * (BYTES_PER_TOKEN + logprobsPerToken * BYTES_PER_LOGPROB) <= ANSWER_BYTES_MAX;
