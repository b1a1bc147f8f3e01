import * as z from 'zod';
import { type Composed, compose } from '../compose.ts';
import type { Scenario } from '../scenario.ts';
import { type Answer, jsonAnswer, type Wire } from '../wire.ts';
import { openaiError, openaiRefusal, serverErrorMessage } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf, textOfParts } from './loose-body.ts';
import { contextWindow } from './model-traits.ts';
import { toAsk } from './responses-ask.ts';
import { toResponse } from './responses-body.ts';
import { type Course, eventFrame, streamFrames } from './responses-events.ts';
import { createIds } from './responses-ids.ts';
import { toFinished, toOutput } from './responses-output.ts';
import { parseResponsesRequest } from './responses-rules.ts';
import { countInputTokens, toResponsesUsage } from './responses-usage.ts';

/** `POST /v1/responses`, plain and streamed. Nothing is stored, whatever `store` requests. */
export const openaiResponses: Wire = {
  method: 'POST',
  path: /^\/v1\/responses$/,
  isAuthorized: hasBearer,
  lastUserText,
  answer,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(request.body), tooLong()),
  // The error is nested, unlike in the provider's reference: https://github.com/openai/openai-dotnet/issues/881
  errorFrame: (_, eventsSent) =>
    eventFrame({
      type: 'error',
      sequence_number: eventsSent,
      error: { type: 'server_error', code: 'server_error', message: serverErrorMessage, param: null },
    }),
  headers: openaiHeaders,
};

function answer({ body }: { readonly body: unknown }, scenario: Scenario): Answer {
  const request = parseResponsesRequest(body);
  const inputTokens = countInputTokens(request);
  if (inputTokens > contextWindow(request.model)) throw tooLong();
  const ids = createIds();
  const composed = compose(toAsk(request), scenario);
  const output = toOutput(composed, request, ids, scenario);
  const usage = scenario.noUsage ? null : toResponsesUsage(inputTokens, composed, scenario.claimedUsage);
  const end = endOf(composed, scenario);
  const begun = toResponse(request, ids.response, { status: 'in_progress', output: [], usage: null });
  const done = end.status === 'failed' ? { output: [], usage: null } : { output: output.map(toFinished), usage };
  const ended = toResponse(request, ids.response, { ...end, ...done });
  if (request.stream !== true) return jsonAnswer(ended);
  const course: Course = { begun, ended, ending: `response.${end.status}` };
  const obfuscated = request.stream_options?.include_obfuscation !== false;
  return {
    kind: 'stream',
    contentType: 'text/event-stream; charset=utf-8',
    frames: streamFrames(output, course, obfuscated),
  };
}

function endOf({ ending }: Composed, { failed }: Scenario) {
  if (failed) return { status: 'failed' as const, error: { code: 'server_error', message: serverErrorMessage } };
  if (ending !== 'length' && ending !== 'blocked') return { status: 'completed' as const };
  const reason = ending === 'length' ? 'max_output_tokens' : 'content_filter';
  return { status: 'incomplete' as const, incomplete_details: { reason } };
}

function tooLong() {
  const message = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
  return openaiError(400, message, { param: 'input', code: 'context_length_exceeded' });
}

const looseSchema = z.looseObject({ input: z.unknown() });
const itemsSchema = z.array(z.looseObject({ role: z.string().optional(), content: z.unknown().optional() }));

function lastUserText(body: unknown): string {
  const input = looseSchema.safeParse(body).data?.input;
  if (typeof input === 'string') return input;
  return textOfParts((itemsSchema.safeParse(input).data ?? []).findLast(({ role }) => role === 'user')?.content);
}
