import { afterAll, expect, test } from 'vitest';
import { parseJson } from '../../lambdas/core/json.ts';
import type { RouteName } from '../../lambdas/routes.ts';
import { answerOf, readReference, rowsOf } from '../support/reference-document.ts';
import { type Sent, startReferenceCustomer } from './reference-customer.ts';

const document = readReference();
const rows = rowsOf(document);
const customer = await startReferenceCustomer();
afterAll(() => customer.stop());

const chat = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hello' }] };
const asked = (text: string) => ({ ...chat, messages: [{ role: 'user', content: text }] });
const image = { model: 'gpt-image-2', prompt: 'A boat' };
const video = '01KAJ2Z8D5M8R3V0C7Q4T9XW1B';

/** Requests that fail with a code. */
const cases: readonly (readonly [code: string, RouteName, Sent])[] = [
  ['missing_api_key', 'chatCompletions', { value: chat, headers: { authorization: '' } }],
  ['invalid_api_key', 'messages', { value: chat, headers: { 'x-api-key': 'unknown' } }],
  ['invalid_api_key', 'generateContent', { value: {}, headers: { 'x-provider-api-key': 'unknown' } }],
  ['invalid_signature', 'getAppAccount', { headers: { authorization: 'tma unknown' } }],
  ['invalid_request_error', 'chatCompletions', { value: { ...chat, temperature: 3 } }],
  ['invalid_messages', 'chatCompletions', { value: { ...chat, messages: [{ role: 'robot', content: 'Hello' }] } }],
  ['context_length_exceeded', 'chatCompletions', { value: asked('[[context-length]]') }],
  ['content_filter', 'chatCompletions', { value: asked('[[content-filter]]') }],
  ['unsupported_parameter', 'responses', { value: { model: 'gpt-5.4-pro', input: 'Hello', store: true } }],
  [
    'idempotency_not_supported',
    'embeddings',
    { value: { model: 'a', input: 'b' }, headers: { 'idempotency-key': 'a' } },
  ],
  ['invalid_fallback_model', 'chatCompletions', { value: chat, headers: { 'x-service-fallback-model': 'gpt-4.1' } }],
  ['invalid_size', 'createVideo', { value: { model: 'seedance-2-0-fast', prompt: 'A boat', size: '1x1' } }],
  ['invalid_image_format', 'generateImages', { value: { ...image, model: 'flux-2-pro', input_image: 'data:a' } }],
  ['model_not_found', 'chatCompletions', { value: { ...chat, model: 'gpt-4.1-mimi' } }],
  ['not_found', 'getVideo', { path: { id: `video_${video}` } }],
  ['unprocessable_entity', 'chatCompletions', { value: { ...chat, model: 'claude-haiku-4-5', n: 2 } }],
  ['upstream_capacity', 'chatCompletions', { value: asked('[[status 429 retry-after 17]]') }],
  ['upstream_error', 'chatCompletions', { value: asked('[[status 500]]') }],
  ['service_unavailable', 'chatCompletions', { value: asked('[[vendor-401]]') }],
  ['model_unavailable', 'chatCompletions', { value: asked('[[vendor-404]]') }],
];

/** Names and types of the members of a body, at every depth. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
};

test.each(cases)('REF-5 the example of %s has the shape of the error of %s', async (code, name, sent) => {
  const row = rows.find(({ operation }) => operation.operationId === name);
  if (!row) throw new Error(`${name} is not described`);
  const response = await customer.send(row, sent);
  const text = await response.text();
  const { examples } = answerOf(document, row.operation, String(response.status))?.content['application/json'] ?? {};
  const reference = examples?.[code]?.$ref;
  expect(reference, `${response.status} ${text}`).toBeDefined();
  const { value } = document.components.examples[reference?.replace('#/components/examples/', '') ?? ''] ?? {};
  expect(text).toContain(`"${code}"`);
  expect(shapeOf(parseJson(text)), text).toEqual(shapeOf(value));
});
