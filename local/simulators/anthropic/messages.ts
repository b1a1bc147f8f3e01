import { type Composed, compose } from '../compose.ts';
import type { Scenario } from '../scenario.ts';
import { type Answer, jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { toAnswerBlocks } from './answer-blocks.ts';
import { shownThinking, toAsk } from './ask.ts';
import { betasOf } from './beta-rules.ts';
import { editContext } from './context-edits.ts';
import { anthropicErrorFrame, anthropicRefusal, tooLongError } from './error.ts';
import { anthropicHeaders, apiKeyOf, hasApiKey, versionOf } from './headers.ts';
import { lastUserText, modelOf } from './last-user-text.ts';
import { formatTokens, promptBlocks, totalTokens } from './prompt-blocks.ts';
import { createPromptCache } from './prompt-cache.ts';
import { parseCountRequest, parseMessagesRequest } from './rules.ts';
import { streamFrames } from './stream.ts';
import { toUsage } from './usage.ts';

/**
 * Prompt cache of the provider. All simulators of the process share it, and the API key in its scope separates their
 * users.
 */
const cache = createPromptCache();

const shared = {
  method: 'POST',
  isAuthorized: hasApiKey,
  lastUserText,
  refuse: (refusal, { headers, body }) => anthropicRefusal(refusal, headers, modelOf(body)),
  errorFrame: anthropicErrorFrame,
  headers: anthropicHeaders,
} satisfies Partial<Wire>;

/** `POST /v1/messages`, plain and streamed. */
export const anthropicMessages: Wire = { ...shared, path: /^\/v1\/messages$/, answer };

/** `POST /v1/messages/count_tokens`: counts the input of a request, cached or not. */
export const anthropicCountTokens: Wire = {
  ...shared,
  path: /^\/v1\/messages\/count_tokens$/,
  answer({ headers, body }) {
    versionOf(headers);
    const { request, facts, blocks } = parseCountRequest(body, betasOf(headers));
    const edited = editContext(request, facts);
    const tokens = totalTokens(promptBlocks(edited.request, facts)) + formatTokens(request);
    const original = { original_input_tokens: totalTokens(blocks) + formatTokens(request) };
    return jsonAnswer({ input_tokens: tokens, ...(edited.applied && { context_management: original }) });
  },
};

function answer({ headers, body }: WireRequest, scenario: Scenario): Answer {
  const { request: sent, facts } = parseMessagesRequest(body, versionOf(headers), betasOf(headers));
  const { request, applied } = editContext(sent, facts);
  const blocks = promptBlocks(request, facts);
  const promptTokens = totalTokens(blocks) + formatTokens(request);
  if (promptTokens > facts.contextTokens) throw tooLongError(promptTokens, facts.contextTokens);

  const composed = compose(toAsk(request, facts), scenario);
  const usage = toUsage({
    promptTokens,
    cache: cache.use(`${apiKeyOf(headers)} ${facts.id}`, blocks),
    composed,
    claimed: scenario.claimedUsage,
    inferenceGeo: request.inference_geo,
  });
  const shownUsage = scenario.noUsage ? undefined : usage;
  const message = {
    ...{ id: `msg_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`, type: 'message', role: 'assistant' },
    ...{ model: facts.id, container: null, diagnostics: null },
  };
  const content = toAnswerBlocks(composed, shownThinking(request, facts), scenario.wholeInput);
  const ending = toEnding(composed);
  const edits = applied && { context_management: { applied_edits: applied } };
  if (request.stream !== true) {
    return jsonAnswer({
      ...message,
      content: content.map(({ whole }) => whole),
      ...ending,
      ...edits,
      usage: shownUsage,
    });
  }
  const frames = streamFrames(message, { ending, edits }, content, shownUsage);
  return { kind: 'stream', contentType: 'text/event-stream; charset=utf-8', frames };
}

const stopReasons = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  blocked: 'refusal',
} as const;

function toEnding({ ending, stopSequence }: Composed) {
  const explanation = 'This request was declined by the simulated safeguards.';
  const details = { type: 'refusal', category: 'general_harms', explanation };
  return {
    stop_reason: stopReasons[ending],
    stop_sequence: stopSequence ?? null,
    stop_details: ending === 'blocked' ? details : null,
  };
}
