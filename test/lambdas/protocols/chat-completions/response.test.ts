import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import { toChatCompletion } from '../../../../lambdas/protocols/chat-completions/response.ts';
import { chatCompletion } from '../../../fixtures/openai/chat-completion.ts';

const at = Date.parse('2026-11-01T00:00:00.900Z');
const context = { modelId: 'alpha-1', requestId: 'REQ', nowMs: at };
const rendered = (body: JsonObject) =>
  toChatCompletion({ kind: 'answer', content: { kind: 'native', text: '', body }, usage: undefined }, context);

test('CHAT-10 OpenAI’s response passes with the id of the catalog', () => {
  const { prompt_tokens_details: details } = chatCompletion.usage;
  const usage = { ...chatCompletion.usage, prompt_tokens_details: { ...details, cached_tokens: 0 } };
  expect(rendered(chatCompletion)).toEqual({ ...chatCompletion, model: 'alpha-1', usage });
});

test('CHAT-10 members that a compatible server omits are filled in', () => {
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

test('CHAT-10, BILL-18 the usage shows no cached tokens, because they have no price of their own', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
  const cached = { cached_tokens: 4, cache_write_tokens: 5, cache_write_tokens_details: { ttl_30m_tokens: 5 } };
  for (const details of [null, {}, { cached_tokens: null }, cached]) {
    expect(rendered({ choices: [], usage: { ...usage, prompt_tokens_details: details } }).usage).toEqual({
      ...usage,
      prompt_tokens_details: { cached_tokens: 0 },
    });
  }
});

test('BILL-9 a usage that the provider did not report is not invented', () => {
  expect(rendered({ choices: [] })).not.toHaveProperty('usage');
  expect(rendered({ choices: [], usage: null }).usage ?? undefined).toBeUndefined();
});

const counted = { input: 10, cacheRead: 4, cacheWrite: 3, cacheWrite1h: 2, output: 5, reasoning: 6 };
const neutral = (changes: object) =>
  toChatCompletion(
    {
      kind: 'answer',
      content: {
        kind: 'neutral',
        answer: { text: 'Hello', refusal: null, toolCalls: [], finishReason: 'stop', ...changes },
      },
      usage: counted,
    },
    context,
  );

test('CHAT-10 a response of another provider protocol has every member, and its counts add up', () => {
  expect(neutral({})).toEqual({
    id: 'chatcmpl-REQ',
    object: 'chat.completion',
    created: 1_793_491_200,
    model: 'alpha-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 19,
      completion_tokens: 11,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 6 },
    },
  });
});

test('CHAT-5 calls come with a content of null, and with their signature', () => {
  const toolCalls = [
    { id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}', signature: 'opaque' },
    { id: 'call_2', name: 'weather', arguments: '{}' },
  ];
  const made = { type: 'function' };
  expect(neutral({ text: null, toolCalls, finishReason: 'tool_calls' }).choices).toMatchObject([
    {
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [
          {
            ...made,
            id: 'call_1',
            function: { name: 'weather', arguments: '{"city":"Paris"}' },
            extra_content: { google: { thought_signature: 'opaque' } },
          },
          { ...made, id: 'call_2', function: { name: 'weather', arguments: '{}' } },
        ],
      },
    },
  ]);
});
