import * as z from 'zod';
import { type Choice, composeChoice } from './openai-chat-choice.ts';
import { toLogprobs, toToolCallId } from './openai-chat-fields.ts';
import type { ChatRequest } from './openai-chat-request.ts';
import { parseChatRequest, refuseTooLong } from './openai-chat-rules.ts';
import { type ChatHead, streamFrames } from './openai-chat-stream.ts';
import { countPromptTokens, toChatUsage } from './openai-chat-usage.ts';
import { openaiRefusal } from './openai-error.ts';
import { hasBearer, openaiHeaders } from './openai-headers.ts';
import type { Scenario } from './scenario.ts';
import { type Answer, jsonAnswer, type Wire } from './wire.ts';

/** `POST /v1/chat/completions`, plain and streamed. */
export const openaiChat: Wire = {
  method: 'POST',
  path: /^\/v1\/chat\/completions$/,
  isAuthorized: hasBearer,
  lastUserText,
  answer,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(request.body)),
  errorFrame: `data: ${JSON.stringify({
    error: {
      message: 'The server had an error while processing your request. Sorry about that!',
      type: 'server_error',
      param: null,
      code: null,
    },
  })}\n\n`,
  headers: openaiHeaders,
};

/** The vendor answers with the snapshot behind a name. */
const snapshots: Readonly<Record<string, string>> = {
  'gpt-4.1': 'gpt-4.1-2025-04-14',
  'gpt-4.1-mini': 'gpt-4.1-mini-2025-04-14',
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
    model: snapshots[request.model] ?? request.model,
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

function toMessage({ content, toolCalls }: Choice) {
  const text = content.join('');
  const message = { role: 'assistant', content: toolCalls.length > 0 ? null : text, refusal: null, annotations: [] };
  if (toolCalls.length === 0) return message;
  const calls = toolCalls.map(({ name, argumentPieces }) => ({
    id: toToolCallId(),
    type: 'function',
    function: { name, arguments: argumentPieces.join('') },
  }));
  return { ...message, tool_calls: calls };
}

const looseSchema = z.looseObject({
  model: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).optional(),
});
const partsSchema = z.array(z.looseObject({ text: z.string().optional() }));

function modelOf(body: unknown): string {
  return looseSchema.safeParse(body).data?.model ?? '';
}

function lastUserText(body: unknown): string {
  const messages = looseSchema.safeParse(body).data?.messages ?? [];
  const content = messages.findLast(({ role }) => role === 'user')?.content;
  if (typeof content === 'string') return content;
  return (partsSchema.safeParse(content).data ?? []).map(({ text }) => text ?? '').join('\n');
}
