import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { isJsonObject, parseJson } from '../../../lambdas/core/json.ts';
import { chatBody } from '../../../lambdas/protocols/chat-completions/body.ts';
import { keepFields } from '../../../lambdas/protocols/fields.ts';
import { generateContentBody } from '../../../lambdas/protocols/generate-content/body.ts';
import { messagesBody } from '../../../lambdas/protocols/messages/body.ts';
import { responsesBody } from '../../../lambdas/protocols/responses/body.ts';
import { clients } from '../../clients/clients.ts';

const FOLDER = join(import.meta.dirname, '../../clients/fields');
const files = globSync('*.json', { cwd: FOLDER }).sort();

const bodies: readonly (readonly [route: RegExp, schema: z.ZodObject])[] = [
  [/\/chat\/completions$/, chatBody],
  [/\/responses$/, responsesBody],
  [/\/messages$/, messagesBody],
  [/:(stream)?generateContent$/i, generateContentBody],
];

const recordingSchema = z.record(z.string(), z.object({ body: z.unknown() }));

/** Names that a client's rows expect in `X-Service-Ignored-Parameters`. */
const expectedOf = (file: string): readonly string[] => {
  const client = clients.find(({ id }) => id === basename(file, '.json'));
  const scenarios = client?.cases.flatMap((row) => Object.values(row.scenarios)) ?? [];
  return scenarios.flatMap(({ ignored = [] }) => ignored);
};

/** Names of a recorded body that the field tables ignore. Throws the 400 for a name that they reject. */
const ignoredIn = (route: string, body: unknown): readonly string[] => {
  const schema = bodies.find(([path]) => path.test(route))?.[1];
  const json = parseJson(JSON.stringify(body));
  return schema && isJsonObject(json) ? keepFields(schema, json).ignored.names : [];
};

test('every file of recorded requests belongs to a known client', () => {
  const ids = clients.map(({ id }) => `${id}.json`);
  expect(files.filter((file) => !ids.includes(file))).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
});

describe.each(files)('GEN-16 %s', (file) => {
  const recording = recordingSchema.parse(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));

  test.each(Object.entries(recording))('%s: each name has a treatment', (route, { body }) => {
    expect(expectedOf(file)).toEqual(expect.arrayContaining([...ignoredIn(route, body)]));
  });
});

test.each([
  [
    'POST /v1/chat/completions',
    { messages: [{ role: 'user', content: 'x', unheard_of: 'x' }] },
    'messages[].unheard_of',
  ],
  ['POST /v1/messages', { tools: [{ name: 'x', unheard_of: 'x' }] }, 'tools[].unheard_of'],
  ['POST /v1beta/models/{model}:generateContent', { generationConfig: { unheardOf: 0 } }, 'generationConfig.unheardOf'],
])('GEN-16 a new name in %s is detected', (route, body, name) => {
  expect(ignoredIn(route, body)).toEqual([name]);
});
