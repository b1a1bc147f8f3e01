import * as z from 'zod';
import type { Scenario } from '../scenario.ts';
import { type Answer, jsonAnswer, type Wire } from '../wire.ts';
import { type Choice, composeChoice } from './chat-choice.ts';
import { toLogprobs, toToolCallId } from './chat-fields.ts';
import type { ChatRequest } from './chat-request.ts';
import { parseChatRequest } from './chat-rules.ts';
import { type ChatHead, streamFrames } from './chat-stream.ts';
import { countPromptTokens, toChatUsage } from './chat-usage.ts';
import { openaiErrorBody, openaiRefusal, serverErrorMessage } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf, textOfParts } from './loose-body.ts';
import { refuseTooLong, snapshotOf } from './model-traits.ts';

/** `POST /v1/chat/completions`, plain and streamed. */
export const openaiChat: Wire = {
  method: 'POST',
  path: /^\/v1\/chat\/completions$/,
  isAuthorized: hasBearer,
  lastUserText,
  answer,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(request.body)),
  errorFrame: () => `data: ${JSON.stringify(openaiErrorBody(serverErrorMessage, 'server_error'))}\n\n`,
  headers: openaiHeaders,
};

function answer({ body }: { readonly body: unknown }, scenario: Scenario): Answer {
  const request = parseChatRequest(body);
  const promptTokens = countPromptTokens(request);
  const tooLong = refuseTooLong(request.model, promptTokens);
  if (tooLong !== undefined) throw tooLong;
  const choice = composeChoice(request, scenario);
  const choices = Array.from({ length: request.n ?? 1 }, () => choice);
  const usage = scenario.noUsage ? undefined : toChatUsage(promptTokens, choices, scenario.claimedUsage);
  const head = {
    id: `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model: snapshotOf(request.model),
    service_tier: 'default',
    system_fingerprint: 'fp_simulated',
  };
  if (request.stream !== true) return jsonAnswer(toCompletion(head, choices, request, usage));
  return {
    kind: 'stream',
    contentType: 'text/event-stream; charset=utf-8',
    frames: streamFrames(head, choices, request, usage),
  };
}

function toCompletion(head: ChatHead, choices: readonly Choice[], request: ChatRequest, usage: unknown) {
  return {
    ...head,
    object: 'chat.completion',
    choices: choices.map((choice, index) => ({
      index,
      message: toMessage(choice),
      logprobs: toLogprobs(choice.content, request) ?? null,
      finish_reason: choice.finishReason,
    })),
    usage,
  };
}

function toMessage({ content, refused, toolCalls }: Choice) {
  const text = content.join('');
  const said = refused ? { content: null, refusal: text } : { content: text, refusal: null };
  const message = { role: 'assistant', ...said, annotations: [] };
  if (toolCalls.length === 0) return message;
  const calls = toolCalls.map(({ name, argumentPieces }) => ({
    id: toToolCallId(),
    type: 'function',
    function: { name, arguments: argumentPieces.join('') },
  }));
  return { ...message, content: null, tool_calls: calls };
}

const looseSchema = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })),
});

function lastUserText(body: unknown): string {
  const messages = looseSchema.safeParse(body).data?.messages ?? [];
  return textOfParts(messages.findLast(({ role }) => role === 'user')?.content);
}
