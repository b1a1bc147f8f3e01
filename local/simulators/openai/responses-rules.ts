import type { VendorRefusal } from '../wire.ts';
import { openaiError } from './error.ts';
import { isProModel, isReasoningModel, reasonsAlways } from './model-traits.ts';
import { parseBody, refuseImage, unsupportedParameter } from './request-errors.ts';
import { refuseFiles } from './responses-files.ts';
import { refuseItemOrder } from './responses-item-order.ts';
import { contentText, itemImages } from './responses-items.ts';
import {
  includesEncryptedReasoning,
  itemsOf,
  type ResponsesRequest,
  responsesRequestSchema,
} from './responses-request.ts';
import { callableTools } from './responses-tools.ts';
import { refuseLongIds, refuseRetention } from './shared-rules.ts';

/** Parses the request, or throws the provider's 400. */
export function parseResponsesRequest(body: unknown): ResponsesRequest {
  const request = parseBody(responsesRequestSchema, body);
  for (const rule of rules) {
    const refusal = rule(request);
    if (refusal !== undefined) throw refusal;
  }
  return request;
}

type Rule = (request: ResponsesRequest) => VendorRefusal | undefined;

const rules: readonly Rule[] = [
  refuseCap,
  refuseSampling,
  refuseEffort,
  refuseEncryptedReasoning,
  refusePreviousResponse,
  refuseStreamOptions,
  refuseLongIds,
  refuseRetention,
  refuseToolChoice,
  refuseJsonFormat,
  refuseItemOrder,
  refuseImages,
  (request) => refuseFiles(itemsOf(request)),
];

const capMin = 16;

/** Source: https://github.com/vectorize-io/hindsight/issues/58 */
function refuseCap({ max_output_tokens: cap }: ResponsesRequest): VendorRefusal | undefined {
  if (cap == null || cap >= capMin) return undefined;
  const param = 'max_output_tokens';
  const message = `Invalid '${param}': integer below minimum value. Expected a value >= ${capMin}, but got ${cap} instead.`;
  return openaiError(400, message, { param, code: 'integer_below_min_value' });
}

/** Unlike the chat API's, this error has no code: https://github.com/OpenHands/software-agent-sdk/issues/1837 */
function refuseSampling(request: ResponsesRequest): VendorRefusal | undefined {
  if (!isReasoningModel(request.model) || request.reasoning?.effort === 'none') return undefined;
  const field = (['temperature', 'top_p'] as const).find((name) => request[name] != null);
  return field === undefined ? undefined : unsupportedParameter(field, undefined);
}

/** Source: https://github.com/openai/codex/issues/6647 */
function refuseEffort({ model, reasoning }: ResponsesRequest): VendorRefusal | undefined {
  if (reasoning?.effort == null) return undefined;
  const param = 'reasoning.effort';
  if (!isReasoningModel(model)) return unsupportedParameter(param, 'unsupported_parameter');
  const supported = supportedEfforts(model);
  if (supported.includes(reasoning.effort)) return undefined;
  const listed = supported.map((effort) => `'${effort}'`);
  const values = `${listed.slice(0, -1).join(', ')}, and ${listed.at(-1)}`;
  const message = `Unsupported value: '${reasoning.effort}' is not supported with the '${model}' model. Supported values are: ${values}.`;
  return openaiError(400, message, { param, code: 'unsupported_value' });
}

function supportedEfforts(model: string): readonly string[] {
  if (isProModel(model)) return ['medium', 'high', 'xhigh'];
  const thinking = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  return reasonsAlways(model) ? thinking : ['none', ...thinking];
}

/** Source: https://github.com/microsoft/agent-framework/issues/7483 */
function refuseEncryptedReasoning(request: ResponsesRequest): VendorRefusal | undefined {
  if (isReasoningModel(request.model) || !includesEncryptedReasoning(request)) return undefined;
  return openaiError(400, 'Encrypted content is not supported with this model.', { param: 'include' });
}

/** Nothing is stored here, so every id is unknown. */
function refusePreviousResponse({ previous_response_id: id }: ResponsesRequest): VendorRefusal | undefined {
  if (id == null) return undefined;
  const fields = { param: 'previous_response_id', code: 'previous_response_not_found' };
  return openaiError(400, `Previous response with id '${id}' not found.`, fields);
}

function refuseStreamOptions({ stream, stream_options: options }: ResponsesRequest): VendorRefusal | undefined {
  if (options == null || stream === true) return undefined;
  const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  return openaiError(400, message, { param: 'stream_options' });
}

function refuseToolChoice({ tools, tool_choice: choice }: ResponsesRequest): VendorRefusal | undefined {
  if (choice == null || typeof choice === 'string' || choice.type === 'allowed_tools') return undefined;
  if (callableTools(tools).some(({ name }) => name === choice.name)) return undefined;
  return openaiError(400, `Tool choice '${choice.name}' not found in 'tools' parameter.`, { param: 'tool_choice' });
}

/**
 * Searches only the input for the word, not the instructions:
 * https://github.com/pydantic/pydantic-ai/blob/main/pydantic_ai_slim/pydantic_ai/models/openai.py
 */
function refuseJsonFormat(request: ResponsesRequest): VendorRefusal | undefined {
  if (request.text?.format?.type !== 'json_object') return undefined;
  const texts = itemsOf(request).map((item) => ('role' in item ? contentText(item.content) : ''));
  if (texts.some((text) => /json/i.test(text))) return undefined;
  const message =
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  return openaiError(400, message, { param: 'input' });
}

function refuseImages(request: ResponsesRequest): VendorRefusal | undefined {
  for (const { image_url: url } of itemsOf(request).flatMap(itemImages)) {
    const refusal = refuseImage(url);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
