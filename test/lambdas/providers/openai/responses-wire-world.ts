import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { Conversation } from '../../../../lambdas/core/text/conversation.ts';
import type { WireAnswer, WireCall, WireEvent, WireStream } from '../../../../lambdas/core/text/text-wire.ts';
import { createResponsesWire } from '../../../../lambdas/providers/openai/responses-wire.ts';
import { type Answer, conversationOf, playVendor } from '../played-vendor.ts';
import { dispatch, wireCall } from './wire-call.ts';

interface FunctionDependencies {
  readonly stream?: boolean;
  readonly choices?: number;
}

/** Call of the model `alpha-1`, which its provider calls `vendor-name`. */
export const nativeCall = (
  body: JsonObject = { model: 'alpha-1', input: 'Hi' },
  parts: FunctionDependencies = {},
): WireCall => ({
  ...wireCall({ body, ...parts }),
  protocol: 'responses',
});

export const chatCall = (changes: Partial<Conversation> = {}, parts: FunctionDependencies = {}): WireCall => {
  const call = wireCall(parts);
  return { ...call, request: { ...call.request, toConversation: () => conversationOf(changes) } };
};

/** Result of a call to a provider that sends this response, and the requests that it received. */
export const play = async (call: WireCall, answer: Answer) => {
  const { options, seen } = playVendor('https://vendor.test/v1/', answer);
  const prepared = createResponsesWire(options).buildCall(call);
  const sent = await prepared.send(dispatch()).catch((error: unknown) => ({ kind: 'error' as const, error }));
  const { requests, notices } = seen;
  return { sent, requests, notices, discarded: () => seen.discarded, asked: JSON.parse(requests[0]?.body ?? 'null') };
};

type Sent = Awaited<ReturnType<typeof play>>['sent'];

export const answerIn = (sent: Sent): WireAnswer => {
  if (sent.kind !== 'answer') throw new Error(`expected a complete response: ${JSON.stringify(sent)}`);
  return sent;
};

export const streamIn = (sent: Sent): WireStream => {
  if (sent.kind !== 'stream') throw new Error('expected a stream');
  return sent;
};

export const errorIn = (sent: Sent): unknown => {
  if (sent.kind !== 'error') throw new Error('expected an error');
  return sent.error;
};

export const eventsOf = async ({ events }: WireStream): Promise<readonly WireEvent[]> => {
  const seen: WireEvent[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) seen.push(next.value);
  return seen;
};
