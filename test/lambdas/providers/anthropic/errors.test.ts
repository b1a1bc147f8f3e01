import { expect, test } from 'vitest';
import { ownParam, type ToParam, toAnthropicError } from '../../../../lambdas/providers/anthropic/errors.ts';
import { chatParams } from '../../../../lambdas/providers/anthropic/request.ts';

const errorFor = (status: number, body: unknown, toParam: ToParam = ownParam) => {
  const notices: string[] = [];
  const refusalContext = {
    retryAfterSeconds: 7,
    secret: 'sk-vendor-canary',
    notice: (notice: string) => void notices.push(notice),
  };
  const error = toAnthropicError(status, body, refusalContext, toParam);
  return { code: error.code, param: error.param, message: error.message, notices, error };
};

const refusal = (type: string, message = 'words', error_code?: string) => ({
  type: 'error',
  error: { type, message, details: error_code ? { error_code } : null },
  request_id: 'req_011',
});
const invalid = (message: string) => refusal('invalid_request_error', message);

test.for([
  [400, invalid('words'), 'invalid_request_error'],
  [401, refusal('authentication_error'), 'service_unavailable'],
  [402, refusal('billing_error'), 'service_unavailable'],
  [403, refusal('permission_error'), 'service_unavailable'],
  [404, refusal('not_found_error'), 'model_unavailable'],
  [409, refusal('conflict_error'), 'upstream_error'],
  [413, refusal('request_too_large'), 'invalid_request_error'],
  [422, invalid('words'), 'invalid_request_error'],
  [429, refusal('rate_limit_error'), 'upstream_capacity'],
  [500, refusal('api_error'), 'upstream_error'],
  [502, '<html>', 'upstream_error'],
  [503, undefined, 'service_unavailable'],
  [504, refusal('timeout_error'), 'upstream_timeout'],
  [529, refusal('overloaded_error'), 'upstream_capacity'],
] as const)('ERR-9 %i %j is %s', ([status, body, code]) => {
  expect(errorFor(status, body).code).toBe(code);
});

test.for([
  [400, refusal('billing_error')],
  [400, invalid('Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.')],
  [
    400,
    invalid('You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.'),
  ],
  [400, invalid('You have reached your specified workspace API usage limits.')],
  [400, invalid('This organization has been disabled.')],
  [400, refusal('invalid_request_error', 'words', 'organization_on_hold')],
  [400, refusal('invalid_request_error', 'words', 'cmek_key_disabled')],
  [429, refusal('rate_limit_error', 'words', 'enforced_spend_limit_reached')],
  [429, refusal('rate_limit_error', 'words', 'contract_spend_limit_reached')],
  [402, refusal('billing_error', 'words', 'linked_organization_billing_unavailable')],
] as const)('ERR-3 %i %j is about the gateway’s account', ([status, body]) => {
  expect(errorFor(status, body)).toMatchObject({ code: 'service_unavailable', notices: ['vendor_refused_us'] });
});

test.for([
  'messages.0.content.0: credit balance is too low',
  'tools.0.name: You have reached your specified API usage limits',
  'The prompt says "Your credit balance is too low".',
])('ERR-3 %j is about the client’s request', (message) => {
  expect(errorFor(400, invalid(message))).toMatchObject({ code: 'invalid_request_error', notices: [] });
});

test.for([
  ['prompt is too long: 208310 tokens > 200000 maximum', 'context_length_exceeded', 'messages'],
  [
    'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    'context_length_exceeded',
    'messages',
  ],
  ['Output blocked by content filtering policy', 'content_filter', null],
  ['Could not process image', 'invalid_image_format', null],
  ['Only HTTPS URLs are supported.', 'invalid_image_format', null],
  [
    "messages.36.content.2.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    'invalid_image_format',
    'messages[36].content[2]',
  ],
  [
    'messages.92.content.0.tool_result.content.1.image.source.base64: The image was specified using the image/png media type, but the image appears to be a image/jpeg image',
    'invalid_image_format',
    'messages[92].content[0]',
  ],
  [
    'messages.1.content.2.image.source.base64: image exceeds 5 MB maximum: 6275800 bytes > 5242880 bytes',
    'invalid_image_format',
    'messages[1].content[2]',
  ],
  [
    'max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens',
    'invalid_request_error',
    'max_tokens',
  ],
  ['output_config.effort: Input should be low', 'invalid_request_error', 'output_config.effort'],
  ['tools.3.custom.input_schema.type: Field required', 'invalid_request_error', 'tools[3]'],
  ['tools.1.custom.2: x', 'invalid_request_error', 'tools[1]'],
  ['messages.2: `tool_use` ids were found without `tool_result` blocks', 'invalid_request_error', 'messages[2]'],
  ['messages: text content blocks must be non-empty', 'invalid_request_error', 'messages'],
  ['`temperature` may only be set to 1 when thinking is enabled.', 'invalid_request_error', 'temperature'],
  ['`tool_choice.type` cannot force', 'invalid_request_error', 'tool_choice'],
  ['Note: something else', 'invalid_request_error', null],
  ['words alone', 'invalid_request_error', null],
] as const)('ERR-9 the message %j', ([message, code, param]) => {
  const found = errorFor(400, invalid(message));
  expect([found.code, found.param]).toEqual([code, param]);
  expect(found.message).toContain(message);
});

const places = [['messages[1].content'], ['messages[2].content', 'messages[2].tool_calls[0]'], ['messages[3]']];

test.for([
  ['messages.1.content.1.tool_use.id: String should match pattern', 'messages[2].tool_calls[0]'],
  ['messages.2: unexpected role', 'messages[3]'],
  ['messages.7.content.0: x', null],
  ['messages.0.content.9: x', null],
  ['messages: x', 'messages'],
  ['tools.1.custom.name: x', 'tools[1]'],
  ['tools: x', 'tools'],
  ['stop_sequences: x', 'stop'],
  ['metadata.user_id: x', 'user'],
  ['output_config.format.schema: x', 'response_format'],
  ['output_config.effort: x', 'output_config.effort'],
  ['output_config: x', null],
  ['system: x', null],
  ['thinking.enabled.budget_tokens: x', null],
  ['top_p: x', 'top_p'],
] as const)('ERR-9 for a chat client %j is about %s', ([message, param]) => {
  expect(errorFor(400, invalid(message), chatParams(places)).param).toBe(param);
});

test('ERR-9 an empty body gets a message of the gateway', () => {
  for (const body of [undefined, null, 'boom', {}, { error: 'x' }, { error: { type: 5, message: [] } }])
    expect(errorFor(400, body)).toMatchObject({
      code: 'invalid_request_error',
      message: 'The provider rejected the request.',
    });
});

test('ERR-5 the provider key is never shown', () => {
  expect(errorFor(400, invalid('bad sk-vendor-canary')).message).toBe('bad [redacted]');
});
