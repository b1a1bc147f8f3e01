import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { createPromptCache } from '../../../../local/simulators/anthropic/prompt-cache.ts';
import { startSimulated } from '../simulated.ts';

const { simulator } = await startSimulated();

const hour = { type: 'ephemeral' as const, ttl: '1h' as const };
const minutes = { type: 'ephemeral' as const };
const rules = 'A long list of rules. '.repeat(40);
const facts = 'A short list of facts. '.repeat(10);

/** Returns a client with one API key. Each API key has its own cache. */
const askAs = (apiKey: string) => {
  const anthropic = new Anthropic({ baseURL: simulator.url, apiKey, maxRetries: 0 });
  return async (question: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => {
    const { usage } = await anthropic.messages.create({
      ...{ model: 'claude-sonnet-5', max_tokens: 100 },
      system: [
        { type: 'text', text: rules, cache_control: hour },
        { type: 'text', text: facts, cache_control: minutes },
      ],
      messages: [{ role: 'user', content: question }],
      ...more,
    });
    return {
      ...{ input: usage.input_tokens, read: usage.cache_read_input_tokens ?? -1 },
      written: usage.cache_creation_input_tokens ?? -1,
      ...{ short: usage.cache_creation?.ephemeral_5m_input_tokens ?? -1 },
      ...{ long: usage.cache_creation?.ephemeral_1h_input_tokens ?? -1 },
    };
  };
};

test('the first prompt writes to the cache, counted by lifetime, and the next prompt reads', async () => {
  const ask = askAs('key-a');
  const first = await ask('One?');
  expect(first).toMatchObject({ read: 0, written: first.short + first.long });
  expect(first.long).toBeGreaterThan(first.short);
  expect(first.short).toBeGreaterThan(0);
  const second = await ask('Another one?');
  expect(second).toMatchObject({ read: first.written, written: 0, short: 0, long: 0 });
  expect(second.input).toBe(first.input + 2);
});

test('a change before the markers, another model or another API key misses the cache', async () => {
  const ask = askAs('key-c');
  const first = await ask('One?');
  const tools: Anthropic.Tool[] = [{ name: 'look', input_schema: { type: 'object' } }];
  expect(await ask('One?', { tools })).toMatchObject({ read: 0 });
  expect(await ask('One?', { model: 'claude-opus-5' })).toMatchObject({ read: 0, written: first.written });
  expect(await askAs('key-d')('One?')).toEqual(first);
});

const block = (material: string, ttl?: '5m' | '1h') => ({ field: 'any', material, tokens: 10, ttl });

test('a prefix expires after its lifetime, and each read renews it', () => {
  let minute = 0;
  const cache = createPromptCache(() => minute * 60_000);
  const read = (ttl: '5m' | '1h') => cache.use('scope', [block('a'), block('b', ttl), block('c')]).read;
  expect(read('5m')).toBe(0);
  minute = 4;
  expect(read('5m')).toBe(20);
  minute = 8;
  expect(read('5m')).toBe(20);
  minute = 13;
  expect(read('1h')).toBe(0);
  minute = 72;
  expect(read('1h')).toBe(20);
  minute = 132;
  expect(read('1h')).toBe(0);
});

test('an earlier prefix is found at most twenty blocks back', () => {
  const cache = createPromptCache(() => 0);
  const prompt = (more: number) => [
    block('a'),
    ...Array.from({ length: more }, (_, index) => block(`${index}`)),
    block('end', '5m'),
  ];
  cache.use('near', [block('a', '5m')]);
  expect(cache.use('near', prompt(18)).read).toBe(10);
  cache.use('far', [block('a', '5m')]);
  expect(cache.use('far', prompt(19)).read).toBe(0);
});
