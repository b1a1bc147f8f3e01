import { expect, test } from 'vitest';
import { prepared, refusalOf, tool } from './chat-requests.ts';

const claude = { upstreams: [{ provider: 'anthropic', model: 'a', wire: 'anthropic_messages', when: 'always' }] };

test('CHAT-8 schemas with too many references in sum are 400 with Claude', () => {
  const letters = [...'abcdefghij'];
  const spelled = (number: number) =>
    letters.map((letter, bit) => ((number >> bit) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter)).join('');
  const references = Array.from({ length: 300 }, (_, at) => ({ $ref: `#/$defs/${spelled(at)}` }));
  const $defs = { abcdefghij: { anyOf: Array.from({ length: 300 }, () => ({})) } };
  const schema = { type: 'object', properties: { a: { anyOf: references } }, $defs };
  const strict = tool({ parameters: schema, strict: true });
  expect(refusalOf({ tools: [strict, strict] }, claude)).toMatchObject({
    code: 'invalid_request_error',
    param: 'tools[0].function.parameters',
    message: expect.stringMatching(/Send a smaller schema\.$/),
  });
  const format = { type: 'json_schema', json_schema: { name: 'a', schema } };
  expect(refusalOf({ response_format: format }, claude)).toMatchObject({ param: 'response_format.json_schema.schema' });
  expect(() => prepared({ response_format: format })).not.toThrow();
});
