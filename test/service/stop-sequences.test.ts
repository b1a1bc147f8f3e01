import { expect, test } from 'vitest';
import { allEvents, chunkSchema, postChat, pricesOf, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '100' });
const { completions } = sdkFor(gateway).chat;

const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
const messages = saying('one two three four');

const receiptOf = async (id: string | null): Promise<unknown> => {
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  return (await fetch(`${gateway.url}/api/usage/${id}`, { headers })).json();
};

/** Models whose provider protocol has no stop sequences, or not these. */
const rows = [
  ['/v1/chat/completions', { model: 'gpt-5.6-sol', stop: ['two t', 'three'] }],
  ['/v1/responses', { model: 'gpt-5.6-sol', stop: 'two t', tools, tool_choice: 'none' as const }],
  ['/v1/messages', { model: 'claude-haiku-4-5', stop: ['two t', '\n'] }],
] as const;

test.for(rows)(
  'CHAT-17 BILL-9 over %s the gateway cuts a plain response and charges all of it',
  async ([path, row]) => {
    const body = { ...row, messages };
    const { result, spent } = await spentBy(gateway, () =>
      completions.create({ ...body, stop: [row.stop].flat() }).withResponse(),
    );
    const [choice] = result.data.choices;
    expect(choice?.message.content).toMatch(/one $/);
    expect(choice?.finish_reason).toBe('stop');
    expect(vendor.requests.map((request) => request.path)).toEqual([path]);
    for (const name of ['stop', 'stop_sequences']) expect(vendor.requests[0]?.body).not.toHaveProperty(name);
    const price = await pricesOf(gateway, row.model);
    expect(spent).toBe(price(result.data.usage ?? { prompt_tokens: 0, completion_tokens: 0 }));
    expect(await receiptOf(result.response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'charged',
      cut_at_stop: true,
    });
  },
);

test.for(rows)('CHAT-17 BILL-9 over %s the gateway cuts a stream, and charges all of it', async ([_path, row]) => {
  const { result, spent } = await spentBy(gateway, async () => {
    const response = await postChat(gateway, { ...row, messages, stream: true });
    return { id: response.headers.get('x-request-id'), events: await allEvents(response) };
  });
  expect(result.events.at(-1)).toBe('[DONE]');
  const chunks = result.events.slice(0, -1).map((event) => chunkSchema.parse(JSON.parse(event)));
  const text = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('');
  expect(text).toMatch(/one $/);
  const last = chunks.at(-1);
  expect(last?.choices[0]?.finish_reason).toBe('stop');
  const price = await pricesOf(gateway, row.model);
  expect(spent).toBe(price(last?.usage ?? { prompt_tokens: 0, completion_tokens: 0 }));
  expect(await receiptOf(result.id)).toMatchObject({ outcome: 'charged', cut_at_stop: true });
});

test('CHAT-17 a response without the sequence is complete, and its receipt says so', async () => {
  const { data, response } = await completions
    .create({ model: 'gpt-5.6-sol', stop: ['absent'], messages })
    .withResponse();
  expect(data.choices[0]?.message.content).toMatch(/four/);
  expect(await receiptOf(response.headers.get('x-request-id'))).toMatchObject({ cut_at_stop: false });
});
