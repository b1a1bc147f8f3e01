import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { Conversation } from '../../../lambdas/core/text/conversation.ts';
import type { UpstreamRequest } from '../../../lambdas/providers/upstream-http.ts';
import type { WireOptions } from '../../../lambdas/providers/vendor-call.ts';

export const CANARY = 'sk-vendor-canary';

type Body = object | string | AsyncIterable<Uint8Array>;

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. */
  readonly body?: Body;
}

/** Simulated provider with a sequence of responses, of which the last repeats, and the requests that it received. */
export const playVendor = (baseUrl: string, ...answers: readonly (Answer | GatewayError)[]) => {
  const requests: UpstreamRequest[] = [];
  const notices: string[] = [];
  const seen = { requests, notices, discarded: 0 };
  const options: WireOptions = {
    http: async (request) => {
      request.signal.throwIfAborted();
      const answer = answers[requests.push(request) - 1] ?? answers.at(-1);
      if (answer instanceof GatewayError) throw answer;
      const { status = 200, headers = {}, body = '' } = answer ?? { status: 599 };
      const discard = () => {
        seen.discarded += 1;
      };
      return { status, headers, body: piecesOf(body), discard };
    },
    access: () => ({ baseUrl, key: CANARY, credentialId: 'one' }),
    notice: (notice, providerId) => void notices.push(`${notice} ${providerId}`),
    now: () => 0,
    random: () => 0,
  };
  return { options, seen };
};

const piecesOf = (body: Body): AsyncIterable<Uint8Array> => {
  if (typeof body === 'string') return inPieces(body);
  return Symbol.asyncIterator in body ? body : inPieces(JSON.stringify(body));
};

export async function* inPieces(...pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** Yields the pieces, then fails like a broken connection of `upstream-http`. */
export async function* cutAfter(...pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  yield* inPieces(...pieces);
  throw new GatewayError('upstream_error', 'the connection broke');
}

export const codeOf = (error: unknown): string =>
  error instanceof GatewayError ? error.code : `not a GatewayError: ${String(error)}`;

export const conversationOf = (changes: Partial<Conversation> = {}): Conversation => ({
  turns: [{ role: 'user', content: [{ kind: 'text', text: 'Hi' }], param: 'messages[0]' }],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  format: undefined,
  temperature: undefined,
  topP: undefined,
  stop: [],
  seed: undefined,
  effort: undefined,
  thinking: false,
  endUser: undefined,
  extras: {},
  ...changes,
});
