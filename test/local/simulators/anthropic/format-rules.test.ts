import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { anthropic } = await startSimulated();

const look = { name: 'look', input_schema: { type: 'object' } };
const format = (schema: object) => ({ output_config: { format: { type: 'json_schema', schema } } });

/** Sends bodies that the SDK's types do not allow, through the SDK. */
const messageOf = (change: object) => {
  const messages = [{ role: 'user', content: 'Hello' }];
  const body = { model: 'claude-opus-5', max_tokens: 2_000, messages, ...change };
  return anthropic.post('/v1/messages', { body }).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Anthropic.BadRequestError ? error.apiMessage : String(error)),
  );
};

const shut = { type: 'object', additionalProperties: false };

test.each<[object, string]>([
  [{ type: 'object' }, "For 'object' type, 'additionalProperties' must be explicitly set to false"],
  [
    { type: 'object', additionalProperties: false, properties: { a: { type: 'array', items: { type: 'object' } } } },
    "For 'object' type, 'additionalProperties' must be explicitly set to false",
  ],
  [
    { type: 'object', additionalProperties: true },
    "For 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false",
  ],
  [
    { type: 'object', additionalProperties: false, properties: { a: { type: 'integer', minimum: 1 } } },
    "For 'integer' type, property 'minimum' is not supported",
  ],
  [{ type: 'array', uniqueItems: true }, "For 'array' type, property 'uniqueItems' is not supported"],
  [{ type: 'array', minItems: 2 }, "For 'array' type, 'minItems' values other than 0 or 1 are not supported"],
  [{ oneOf: [{ type: 'string' }] }, "Schema type 'oneOf' is not supported"],
  [
    {
      ...shut,
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { ...shut, properties: { b: { $ref: '#/$defs/A' } } } },
    },
    'Circular reference detected in schema definitions: A -> A. ' +
      'Self-referencing or mutually-referencing definitions are not supported.',
  ],
])('a schema outside the supported subset is rejected: %j', async (schema, message) => {
  expect(await messageOf(format(schema))).toBe(`output_config.format.schema: ${message}`);
});

test.each<[object, string]>([
  [
    { input_schema: { type: 'object', anyOf: [{ required: ['a'] }] } },
    'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
  ],
  [
    { input_schema: { ...shut, properties: { a: { type: 'string', minLength: 1 } } }, strict: true },
    "tools.0.custom: For 'string' type, property 'minLength' is not supported",
  ],
  [{ input_schema: { ...shut, properties: { a: { type: 'string', minLength: 1 } } } }, 'accepted'],
])('the schema of a tool is checked: %j', async (tool, message) => {
  expect(await messageOf({ tools: [{ ...look, ...tool }] })).toBe(message);
});
