import { expect, test } from 'vitest';
import { toChatCompletion } from '../../../../lambdas/protocols/chat-completions/response.ts';
import { chatCompletion } from '../../../fixtures/openai/chat-completion.ts';

const at = Date.parse('2026-11-01T00:00:00.900Z');
const rendered = (body: Parameters<typeof toChatCompletion>[0]) => toChatCompletion(body, 'alpha-1', 'REQ', at);

test('CHAT-10 the answer of OpenAI passes with the id of the catalog', () => {
  expect(rendered(chatCompletion)).toEqual({ ...chatCompletion, model: 'alpha-1' });
});

test('CHAT-10 what a compatible server leaves out is filled in', () => {
  const bare = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };
  expect(rendered(bare)).toEqual({
    id: 'chatcmpl-REQ',
    object: 'chat.completion',
    created: 1_793_491_200,
    model: 'alpha-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'x', refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: { ...bare.usage, prompt_tokens_details: { cached_tokens: 0 } },
  });
});

test('CHAT-10 details of null still tell cached_tokens', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  for (const details of [null, {}, { cached_tokens: null }]) {
    expect(rendered({ choices: [], usage: { ...usage, prompt_tokens_details: details } })).toMatchObject({
      usage: { ...usage, prompt_tokens_details: { cached_tokens: 0 } },
    });
  }
});

test('BILL-9 a usage that the vendor did not report is not made up', () => {
  expect(rendered({ choices: [] })).not.toHaveProperty('usage');
  expect(rendered({ choices: [], usage: null }).usage ?? undefined).toBeUndefined();
});

test('CHAT-8 content is neither stripped nor repaired', () => {
  const content = '```json\n{"a": 1,}\n```\n';
  const { choices } = rendered({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
  expect(choices).toMatchObject([{ message: { content } }]);
});
