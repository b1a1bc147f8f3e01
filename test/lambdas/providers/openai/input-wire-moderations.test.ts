import { expect, test } from 'vitest';
import { createModerationWire } from '../../../../lambdas/providers/openai/input-wire.ts';
import { moderationVerdict, playInput } from './input-wire-world.ts';
import { codeOf } from './stream-reading.ts';

test('MOD-1 a result passes unchanged except for the model, and nothing is counted', async () => {
  const text = JSON.stringify(moderationVerdict, null, 2);
  const { requests, answer } = await playInput(createModerationWire, { body: text });
  expect(requests.map(({ url }) => url)).toEqual(['https://vendor.test/v1/moderations']);
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ model: 'vendor-name', input: 'Hi' });
  expect(answer).toEqual({
    text: text.replace('"omni-moderation-2024-09-26"', '"alpha-1"'),
    usage: undefined,
  });
});

test.for(['', '{}', '{"results":"none"}', '{"data":[]}'])('ERR-9 200 with %s is upstream_error', async (body) => {
  expect(codeOf((await playInput(createModerationWire, { body })).error)).toBe('upstream_error');
});

test('ERR-9 a refusal names the field of the client', async () => {
  const body = JSON.stringify({
    error: { message: 'empty', type: 'invalid_request_error', param: 'input', code: null },
  });
  const { error } = await playInput(createModerationWire, { status: 400, body });
  expect(error).toMatchObject({ code: 'invalid_request_error', param: 'input', message: 'input: empty' });
});
