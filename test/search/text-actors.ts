import { answerOnce } from '../../lambdas/core/idempotency/claim.ts';
import type { ClaimedRequest } from '../../lambdas/core/idempotency/claimed-execution.ts';
import type { PumpedStream } from '../../lambdas/core/paid-call/with-paid-call.ts';
import type { TextParams } from '../../lambdas/core/text/conversation.ts';
import { generateText } from '../../lambdas/core/text/generate-text.ts';
import type { TextDependencies } from '../../lambdas/core/text/text-candidates.ts';
import type { TextSink } from '../../lambdas/core/text/text-stream.ts';
import type { WireEvent } from '../../lambdas/core/text/text-wire.ts';
import type { Served } from './operations.ts';
import { askVendor, errorTold, paidCallDependencies, USAGE } from './paid-ports.ts';
import { idempotencyDependencies } from './ports.ts';
import type { Body, Host } from './run-actor.ts';
import { ACCOUNT, KEY } from './world.ts';

const textDependencies = (host: Host, outcomes: readonly Served[]): TextDependencies => ({
  ...paidCallDependencies(host),
  wires: new Map([
    [
      'openai_chat',
      {
        buildCall: ({ request }) => ({
          send: async () => {
            await askVendor(host, outcomes);
            if (request.stream)
              return { kind: 'stream', events: streamed(), close: () => undefined, usageSoFar: () => undefined };
            return { kind: 'answer', content: { kind: 'native', text: '{}', body: {} }, usage: USAGE };
          },
        }),
      },
    ],
  ]),
});

async function* streamed(): AsyncGenerator<WireEvent, void> {
  yield { kind: 'end', ending: { kind: 'deferred', event: {}, reportedUsage: undefined }, usage: USAGE };
}

const order = (stream: boolean): TextParams => ({
  protocol: 'chat_completions',
  modelId: 'alpha-1',
  endUser: undefined,
  params: { prompt: 'messages', cap: 'max_tokens' },
  validateFor: () => ({
    stream,
    choices: 1,
    outputTokensMax: 10,
    usesTools: false,
    effort: undefined,
    prompt: { bytes: 36, images: [] },
    promptPricing: 'one-rate',
    ignored: [],
    body: {},
  }),
});

const callerOf = (requestId: string) => ({ accountId: ACCOUNT, requestId, hostEndsAtMs: undefined });

/** Streamed request: the client has its result before the account is updated. */
export const streaming =
  (requestId: string, outcomes: readonly Served[] = ['good']): Body =>
  async (host) => {
    const manner = { render: () => '', dryRun: false };
    try {
      const generated = await generateText(textDependencies(host, outcomes), callerOf(requestId), order(true), manner);
      if (generated.kind !== 'stream') throw new Error('expected a stream');
      await pump(host, requestId, generated.stream);
      return undefined;
    } catch (error) {
      return errorTold(requestId, error);
    }
  };

const pump = async (host: Host, requestId: string, stream: PumpedStream<TextSink>): Promise<void> => {
  const sink: TextSink = {
    native: () => undefined,
    neutral: () => undefined,
    finish: () => host.tell({ requestId, kind: 'success', content: requestId }),
    fail: (error) => host.tell(errorTold(requestId, error)),
    close: () => undefined,
  };
  await stream.pump(sink);
};

/** One of the requests with the idempotency key. */
export const idempotent =
  (requestId: string, outcomes: readonly Served[] = ['good']): Body =>
  async (host) => {
    const request = {
      ...KEY,
      requestId,
      fingerprint: 'same',
      renderError: () => ({ status: 400, headers: {}, body: `refusal of ${requestId}` }),
    };
    const work = async (claimed: ClaimedRequest): Promise<string> => {
      const generated = await generateText(textDependencies(host, outcomes), callerOf(requestId), order(false), {
        render: () => `response of ${requestId}`,
        dryRun: false,
        idempotent: { claimed, toStored: (_outcome, body) => ({ status: 200, headers: {}, body }) },
      });
      if (generated.kind !== 'answer') throw new Error('expected a complete response');
      return generated.body;
    };
    try {
      const answered = await answerOnce(idempotencyDependencies(host), request, work);
      if (answered.kind === 'fresh') return { requestId, kind: 'success', content: answered.value };
      const { status, body } = answered.answer;
      return { requestId, kind: status === 200 ? 'success' : 'error', content: body };
    } catch (error) {
      return errorTold(requestId, error);
    }
  };
