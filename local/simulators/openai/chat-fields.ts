import type { ChatRequest } from './chat-request.ts';

export function toToolCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

/** Returns one entry per piece, or undefined if the request does not ask for logprobs. */
export function toLogprobs(pieces: readonly string[], request: ChatRequest) {
  if (request.logprobs !== true) return undefined;
  const alternatives = request.top_logprobs ?? 0;
  const content = pieces.map((token) => ({
    ...tokenLogprob(token, 0),
    top_logprobs: Array.from({ length: alternatives }, (_, rank) =>
      tokenLogprob(rank === 0 ? token : `${token}${rank}`, rank),
    ),
  }));
  return { content, refusal: null };
}

function tokenLogprob(token: string, rank: number) {
  return { token, logprob: -0.01 - rank, bytes: [...Buffer.from(token)] };
}
