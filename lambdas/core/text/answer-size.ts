/** Largest response that is read into memory, in bytes. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Upper bound on the bytes of a token. The longest token has 128 spaces, and a response may consist of such tokens
 * only.
 */
const BYTES_PER_TOKEN = 160;
/**
 * Upper bound on the bytes of one logprobs item in indented JSON: the token, its logarithmic probability and its byte
 * values.
 */
const BYTES_PER_LOGPROB = 400;

export interface AnswerShape {
  /** Sum over all choices. */
  readonly tokens: number;
  /** Alternatives per token plus the token itself; 0 without logprobs. */
  readonly logprobsPerToken: number;
}

/**
 * Whether the longest response of this shape fits into `ANSWER_BYTES_MAX`. The provider would charge for a larger
 * response, and the gateway could not deliver it.
 */
export const isReadable = ({ tokens, logprobsPerToken }: AnswerShape): boolean =>
  tokens <= readableTokens(logprobsPerToken);

/** Number of tokens, of all choices together, whose response always fits. */
export const readableTokens = (logprobsPerToken: number): number =>
  Math.floor(ANSWER_BYTES_MAX / (BYTES_PER_TOKEN + logprobsPerToken * BYTES_PER_LOGPROB));
