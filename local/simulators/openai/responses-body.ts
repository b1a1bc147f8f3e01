import { isReasoningModel, snapshotOf } from './model-traits.ts';
import { effortOf } from './responses-ask.ts';
import type { ResponsesRequest } from './responses-request.ts';

export type ResponseState = {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly object[];
  readonly usage: object | null;
  readonly error?: object;
  readonly incomplete_details?: object;
};

/**
 * Returns the response object: the fields of the request with the provider's defaults, and the current state of the
 * response.
 */
export function toResponse(request: ResponsesRequest, id: string, state: ResponseState) {
  const now = Math.floor(Date.now() / 1000);
  return {
    id,
    object: 'response',
    created_at: now,
    background: false,
    completed_at: state.status === 'completed' ? now : null,
    error: null,
    incomplete_details: null,
    ...repeatedLimits(request),
    ...repeatedShape(request),
    previous_response_id: null,
    service_tier: state.status === 'in_progress' ? 'auto' : 'default',
    top_logprobs: 0,
    ...state,
  };
}

function repeatedLimits(request: ResponsesRequest) {
  return {
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    // https://www.openresponses.org, version 2026-04-24; recorded responses of OpenAI have both since January 2026.
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: request.truncation ?? 'disabled',
    store: request.store ?? true,
    metadata: request.metadata ?? {},
    prompt_cache_key: request.prompt_cache_key ?? null,
    safety_identifier: request.safety_identifier ?? null,
    user: request.user ?? null,
  };
}

function repeatedShape(request: ResponsesRequest) {
  const { model, tools, tool_choice: choice, text, reasoning } = request;
  return {
    model: snapshotOf(model),
    instructions: request.instructions ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    reasoning: {
      effort: isReasoningModel(model) ? effortOf(request) : null,
      summary: reasoning?.summary ?? null,
      ...(reasoning?.context == null ? {} : { context: reasoning.context }),
    },
    text: { format: repeatedFormat(text?.format), verbosity: text?.verbosity ?? 'medium' },
    tool_choice: choice ?? 'auto',
    tools: (tools ?? []).map((tool) =>
      tool.type === 'function'
        ? {
            ...tool,
            description: tool.description ?? null,
            parameters: tool.parameters ?? null,
            strict: tool.strict ?? true,
          }
        : tool,
    ),
  };
}

type Format = NonNullable<ResponsesRequest['text']>['format'];

/** Repeats a format with every member, as the provider's reference shows it. */
function repeatedFormat(format: Format) {
  if (format?.type !== 'json_schema') return format ?? { type: 'text' };
  return { ...format, description: format.description ?? null, strict: format.strict ?? false };
}
