import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { errorCodes } from '../../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { fieldNames } from '../../lambdas/protocols/audio/transcription-request.ts';
import { type Route, routes } from '../../lambdas/routes.ts';
import { createReference, toText } from '../../reference/document.ts';
import { transcriptionRequest } from '../../reference/operations/audio.ts';
import { operations } from '../../reference/operations.ts';
import { answerOf, readReference, referencePath, rowsOf } from '../support/reference-document.ts';

const document = readReference();
const rows = rowsOf(document);
const table = Object.entries<Route>(routes);

/** Returns the documented codes of an operation for a status. */
const codesOf = (name: string, status: number): string[] => {
  const row = rows.find(({ operation }) => operation.operationId === name);
  if (!row) throw new Error(`no operation ${name}`);
  const answer = answerOf(document, row.operation, String(status));
  return Object.keys(answer?.content['application/json']?.examples ?? {});
};

test('REF-1 the committed OpenAPI document equals its sources, byte for byte', () => {
  expect(toText(createReference()) === readFileSync(referencePath, 'utf8')).toBe(true);
});

test('REF-1 the document describes exactly the routes of the route table', () => {
  const described = rows.map(({ method, path, operation }) => `${operation.operationId} ${method} ${path}`);
  expect(described.toSorted()).toEqual(table.map(([name, { method, path }]) => `${name} ${method} ${path}`).toSorted());
  const text = JSON.stringify(document);
  for (const path of table.flatMap(([, { alsoAt = [] }]) => alsoAt)) expect(text).toContain(path);
});

test('REF-1 the document describes every error code under its own status', () => {
  const missing = errorCodes.filter((code) => {
    const { status } = new GatewayError(code, '');
    return !table.some(([name]) => codesOf(name, status).includes(code));
  });
  expect(missing).toEqual([]);
  for (const [name] of table) {
    for (const status of [400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 416, 422, 429, 500, 502, 503, 504]) {
      for (const code of codesOf(name, status)) {
        const known = errorCodes.find((each) => each === code);
        expect(known && new GatewayError(known, '').status, `${name} ${code}`).toBe(status);
      }
    }
  }
});

test.each<[string, number, readonly string[]]>([
  ['chatCompletions', 401, ['missing_api_key', 'invalid_api_key', 'revoked_api_key', 'expired_api_key']],
  ['chatCompletions', 402, ['insufficient_balance', 'key_limit_exceeded']],
  ['chatCompletions', 409, ['idempotency_in_progress', 'idempotency_exhausted']],
  ['speak', 409, []],
  ['getVideo', 402, []],
  ['getVideoContent', 416, ['range_not_satisfiable']],
  ['rotateKey', 401, ['invalid_signature']],
  ['rotateKey', 409, ['key_already_rotated']],
  ['health', 401, []],
  ['health', 429, []],
  ['listPrices', 429, ['rate_limit_exceeded']],
])('REF-1 %s has for status %i the codes %j', (name, status, codes) => {
  expect(codesOf(name, status)).toEqual(codes);
});

test('REF-1 IDEM-1 parameter names are unique, and only idempotent routes have Idempotency-Key', () => {
  const names = rows.map(({ operation: { operationId, parameters = [] } }) => ({
    operationId,
    names: parameters.map((parameter) => `${parameter.in} ${parameter.name}`),
  }));
  for (const each of names) expect(each.names, each.operationId).toEqual([...new Set(each.names)]);
  const keyed = names.filter((each) => each.names.includes('header Idempotency-Key'));
  expect(keyed.map(({ operationId }) => operationId)).toEqual([
    ...['chatCompletions', 'responses', 'generateImages', 'editImages', 'createVideo'],
  ]);
});

test('REF-1 every error example has the shape of its format', () => {
  const { examples } = document.components;
  expect(examples['plain.not_found']?.value).toEqual({
    error: { message: expect.any(String), type: 'invalid_request_error', code: 'not_found', param: null },
  });
  expect(examples['messages.rate_limit_exceeded']?.value).toMatchObject({
    type: 'error',
    request_id: expect.any(String),
  });
  expect(examples['generate_content.missing_api_key']?.value).toMatchObject({
    error: { code: 401, status: 'UNAUTHENTICATED', details: [{ reason: 'missing_api_key' }] },
  });
});

const bodies = Object.entries(operations).flatMap(([name, { json, form }]) => [
  ...(json ? [{ name, kind: 'json', body: json }] : []),
  ...(form ? [{ name, kind: 'form', body: form }] : []),
]);

test.each(bodies)('REF-1 the $kind examples of $name pass request validation', ({ body }) => {
  const beside = new Set(Object.keys(body.more ?? {}));
  const examples = Object.values(body.examples);
  expect(examples.length).toBeGreaterThan(0);
  for (const { value } of examples) {
    const checked = Object.fromEntries(Object.entries(value).filter(([name]) => !beside.has(name)));
    expect(z.safeParse(body.schema, checked)).toMatchObject({ success: true });
  }
});

test('REF-1 the documented transcription form has exactly the fields that its parser accepts', () => {
  const { file, ...texts } = transcriptionRequest.fields;
  expect(file).toBeDefined();
  expect(new Set(Object.keys(texts))).toEqual(fieldNames);
});

/** Lists paths whose schema does not describe the items of a list or the members of an object. */
const unsaid = (value: unknown, path = ''): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const here = `${path}/${name}`;
    const isEmpty = typeof member === 'object' && member !== null && Object.keys(member).length === 0;
    return isEmpty && (name === 'items' || name === 'properties') ? [here] : unsaid(member, here);
  });
};

test("REF-1 the document describes the members of the gateway's own collections", () => {
  const requests = Object.fromEntries(bodies.map(({ body: { name } }) => [name, document.components.schemas[name]]));
  expect(requests).toHaveProperty('ChatRequest.properties.messages.items.oneOf');
  expect(requests).toHaveProperty(
    'MessagesRequest.properties.tools.items.anyOf.5.properties.input_schema.type',
    'object',
  );
  expect(requests).toHaveProperty('ChatRequest.properties.logit_bias.anyOf.0.additionalProperties.minimum', -100);
  expect(requests).toHaveProperty('GenerateContentRequest.properties.contents.items.properties.role.enum');
  // The gateway accepts any annotations of an assistant message.
  expect(unsaid(requests).filter((path) => !path.endsWith('/annotations/items'))).toEqual([]);
});

const contents = Object.entries(operations).flatMap(([name, { answers }]) =>
  Object.entries(answers).flatMap(([status, { content }]) =>
    Object.entries(content)
      .filter(([type]) => /json|csv|event-stream/.test(type))
      // The array has the events of the stream.
      .filter(([type]) => name !== 'streamGenerateContent' || type === 'text/event-stream')
      .map(([type, each]) => ({ name, status, type, ...each })),
  ),
);

test.each(contents)('REF-5 $name has a valid example for $status $type', ({ name, status, type, schema, event }) => {
  const row = rows.find(({ operation }) => operation.operationId === name);
  const example = row && answerOf(document, row.operation, status)?.content[type]?.example;
  expect(example, 'run test/service/reference-samples.test.ts with -u').toBeDefined();
  const events = event ? (String(example).match(/^data: \{.*$/gm) ?? []) : [];
  for (const each of events) event?.parse(JSON.parse(each.slice('data: '.length)));
  expect(events.length > 1).toBe(event !== undefined);
  if (!event && type === 'application/json' && schema instanceof z.ZodType) schema.parse(example);
});

const eventObject = z.looseObject({
  type: z.tuple([z.literal('string'), z.literal('object')]),
  required: z.tuple([z.literal('data')]),
  properties: z.looseObject({ data: z.json() }),
});

test.each(contents.filter(({ event }) => event))(
  'REF-1 the stream of $name is described as events',
  ({ schema, event }) => {
    const data = JSON.stringify(eventObject.parse(schema).properties.data);
    const id = event?.meta()?.id ?? '';
    expect(data).toContain('"contentMediaType":"application/json"');
    expect(data).toContain(`"#/components/schemas/${id}"`);
    expect(document.components.schemas).toHaveProperty([id]);
  },
);

test('REF-5 every operation has samples for curl, Python and JavaScript, first without a stream', () => {
  for (const { operation } of rows) {
    const samples = operation['x-codeSamples'];
    expect(samples.slice(0, 3).map(({ lang, label }) => [lang, label])).toEqual([
      ['shell', 'curl'],
      ['python', 'Python'],
      ['javascript', 'JavaScript'],
    ]);
  }
  const streams = rows.filter(({ operation }) => operation['x-codeSamples'].length === 6);
  expect(streams.map(({ operation }) => operation.operationId)).toEqual(['chatCompletions', 'responses', 'messages']);
});

test('REF-5 x-errors has every code once, with an example of that code', () => {
  expect(document['x-errors'].map(({ code }) => code).toSorted()).toEqual([...errorCodes].toSorted());
  for (const { code, status, example } of document['x-errors']) {
    expect(new GatewayError(z.enum(errorCodes).parse(code), '').status).toBe(status);
    const { value } = document.components.examples[example.$ref.replace('#/components/examples/', '')] ?? {};
    expect(value, code).toMatchObject({ error: { code } });
  }
});

test('REF-5 every section is in one group, and routes of users come first', () => {
  const [user, operator] = document['x-tagGroups'];
  expect([user?.name, operator?.name]).toEqual(['API', 'Operator and bot']);
  expect(document['x-tagGroups'].flatMap(({ tags }) => tags)).toEqual(document.tags.map(({ name }) => name));
  const others = new Set(['init_data', 'bot', 'signature']);
  const names = table.filter(([, { credential }]) => others.has(credential)).map(([name]) => name);
  for (const { operation } of rows)
    expect(operator?.tags.includes(operation.tags[0]) || !names.includes(operation.operationId)).toBe(true);
});

test('ERR-7 the introduction states when to retry, and that proxies must not buffer', () => {
  const text = document.info.description.replaceAll('\n', ' ');
  expect(text).toContain('Retry on 429, 500, 502, 503 and 504, up to five times, after 1, 2, 5, 15 and 30 seconds');
  expect(text).toContain('Do not retry any other 4xx');
  expect(text).toContain('reverse proxy between the gateway and a client must not buffer responses');
  for (const code of errorCodes) expect(text).toContain(`| \`${code}\` |`);
});

test('REF-1 the document names no server other than its own', () => {
  expect(document.servers).toEqual([{ url: '/' }]);
  const addresses = JSON.stringify(document).match(/https?:\/\/[a-z0-9.-]+/g) ?? [];
  // No server has such a name: https://www.rfc-editor.org/rfc/rfc6761#section-6.4
  expect(addresses.filter((address) => !address.endsWith('.invalid'))).toEqual([]);
});
