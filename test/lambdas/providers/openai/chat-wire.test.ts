import { expect, test } from 'vitest';
import type { WireAnswer, WireStream } from '../../../../lambdas/core/text/text-wire.ts';
import { UnchargedOutput } from '../../../../lambdas/core/text/uncollected-text.ts';
import { createChatWire } from '../../../../lambdas/providers/openai/chat-wire.ts';
import { chatCompletion } from '../../../fixtures/openai/chat-completion.ts';
import { type Answer, playVendor } from '../played-vendor.ts';
import { codeOf, fixture } from './stream-reading.ts';
import { dispatch, wireCall } from './wire-call.ts';

interface Played extends Answer {
  readonly baseUrl?: string;
}

const wireTo = ({ baseUrl = 'https://vendor.test/v1', ...answer }: Played) => {
  const { options, seen } = playVendor(baseUrl, answer);
  return { wire: createChatWire(options), seen };
};

const answerOf = (sent: WireAnswer | WireStream): WireAnswer => {
  if (sent.kind !== 'answer') throw new Error('expected a complete response');
  return sent;
};

const thrown = async (played: Played): Promise<string> => {
  try {
    await wireTo(played).wire.buildCall(wireCall()).send(dispatch());
    return 'nothing';
  } catch (error) {
    return codeOf(error);
  }
};

const completion = (changes: object = {}): string => JSON.stringify({ ...chatCompletion, ...changes });

test('GEN-5 a call is one request to the URL with the provider key', async () => {
  for (const baseUrl of ['https://vendor.test/v1', 'https://vendor.test/v1/', 'https://vendor.test/v1//']) {
    const { wire, seen } = wireTo({ body: completion(), baseUrl });
    await wire.buildCall(wireCall()).send(dispatch());
    expect(seen.requests).toHaveLength(1);
    expect(seen.requests[0]).toMatchObject({
      url: 'https://vendor.test/v1/chat/completions',
      headers: { authorization: 'Bearer sk-vendor-canary', accept: 'application/json', 'accept-encoding': 'identity' },
    });
    expect(JSON.parse(seen.requests[0]?.body ?? '')).toMatchObject({
      model: 'vendor-name',
      max_completion_tokens: 321,
    });
  }
});

test('GEN-5 a provider with its own key header gets the key without a scheme', async () => {
  const { wire, seen } = wireTo({ body: completion() });
  const provider = { credential: { variable: 'K', header: 'Api-Key' }, headers: { 'x-team': '4' } };
  await wire.buildCall(wireCall({ provider })).send(dispatch());
  expect(seen.requests[0]?.headers).toMatchObject({ 'api-key': 'sk-vendor-canary', 'x-team': '4' });
  expect(seen.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('CHAT-10 a complete response passes unchanged, with its token counts', async () => {
  const { content, usage } = answerOf(await wireTo({ body: completion() }).wire.buildCall(wireCall()).send(dispatch()));
  expect(content).toEqual({ kind: 'native', text: completion(), body: chatCompletion });
  expect(usage).toEqual({ input: 15, cacheRead: 4, cacheWrite: 0, cacheWrite1h: 0, output: 7, reasoning: 3 });
});

test('BILL-10 a complete response without usage has none', async () => {
  const sent = answerOf(
    await wireTo({ body: completion({ usage: undefined }) })
      .wire.buildCall(wireCall())
      .send(dispatch()),
  );
  expect(sent.usage).toBeUndefined();
});

test('CHAT-14 a complete response with any blocked choice is content_filter', async () => {
  const [choice] = chatCompletion.choices;
  const blocked = [choice, { ...choice, index: 1, finish_reason: 'content_filter' }];
  expect(await thrown({ body: completion({ choices: blocked }) })).toBe('content_filter');
});

test.for([
  '',
  '<html>',
  '[]',
  '"text"',
  'null',
  '{}',
  '{"choices":[]}',
  '{"choices":[1]}',
  '{"choices":"x"}',
  completion().slice(0, -1),
])('ERR-9 200 with %s is upstream_error', async (body) => {
  expect(await thrown({ body })).toBe('upstream_error');
});

test.for([
  ['{"choices":[]}', true],
  ['{"choices":[1]}', false],
  ['{}', false],
  [JSON.stringify({ error: { message: 'The model produced invalid content.', type: 'model_error' } }), true],
  [JSON.stringify({ error: { message: 'model_error', type: 'server_error' } }), false],
  [`"${'x'.repeat(64 * 1024 * 1024)}"`, true],
] as const)('FALL-1 the circuit ignores a failure that a request can cause: case %#', async ([body, isIgnored]) => {
  const sending = wireTo({ body }).wire.buildCall(wireCall()).send(dispatch());
  await expect(sending).rejects.toMatchObject({ code: 'upstream_error', ignoredByCircuit: isIgnored });
});

test.for([
  [{ prompt_tokens: 7, completion_tokens: 900 }, 900],
  [{ prompt_tokens: 7, completion_tokens: 0 }, undefined],
  [undefined, undefined],
] as const)(
  'BILL-21 a response without choices and with the usage %j is uncharged output: %s',
  async ([usage, output]) => {
    const sending = wireTo({ body: JSON.stringify({ choices: [], usage }) })
      .wire.buildCall(wireCall())
      .send(dispatch());
    const error: unknown = await sending.catch((thrown: unknown) => thrown);
    expect(error instanceof UnchargedOutput ? error.usage?.output : undefined).toBe(output);
  },
);

test.for([
  [{ message: 'quota', type: 'insufficient_quota', code: 'insufficient_quota' }, 'service_unavailable'],
  [{ message: 'oops' }, 'upstream_error'],
] as const)('ERR-3 an error about the gateway’s account also counts with status 200: %j', async ([error, code]) => {
  expect(await thrown({ body: JSON.stringify({ error }) })).toBe(code);
});

test('ERR-9 a capacity error passes Retry-After on; a 401 raises a notice naming the provider', async () => {
  const capacity = wireTo({ status: 429, headers: { 'retry-after': '12' } });
  await expect(capacity.wire.buildCall(wireCall()).send(dispatch())).rejects.toMatchObject({
    code: 'upstream_capacity',
    retryAfterSeconds: 12,
  });
  await expect(wireTo({ status: 429 }).wire.buildCall(wireCall()).send(dispatch())).rejects.toMatchObject({
    retryAfterSeconds: 5,
  });
  const denied = wireTo({ status: 401, body: '{"error":{"message":"sk-vendor-canary"}}' });
  await expect(denied.wire.buildCall(wireCall()).send(dispatch())).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  expect([capacity.seen.notices, denied.seen.notices]).toEqual([[], ['vendor_refused_us openai']]);
});

test('ERR-9 a rejected stream has the error of its status, even if its body is cut off', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"error":');
    throw new Error('gone');
  }
  const { wire } = wireTo({ status: 503, body: broken() });
  await expect(wire.buildCall(wireCall({ stream: true })).send(dispatch())).rejects.toMatchObject({
    code: 'service_unavailable',
  });
});

test('CHAT-11 a stream is requested as events, read to its end and closed once', async () => {
  const { wire, seen } = wireTo({ body: fixture('chat-stream.sse') });
  const sent = await wire.buildCall(wireCall({ stream: true })).send(dispatch());
  if (sent.kind !== 'stream') throw new Error('expected a stream');
  const kinds: string[] = [];
  for (let next = await sent.events.next(); !next.done; next = await sent.events.next()) {
    kinds.push(next.value.kind);
    if (next.value.kind !== 'native') continue;
    for (const data of next.value.events) expect(JSON.parse(data).model).toBe('alpha-1');
  }
  sent.close();
  expect([kinds, seen.discarded]).toEqual([['native', 'native', 'end'], 1]);
  expect(seen.requests[0]?.headers.accept).toBe('text/event-stream');
});

test.for([
  [{ reasoningTokens: 'beside' }, { output: 1, reasoning: 386 }, undefined],
  [{ reasoningTokens: 'included' }, { output: 0, reasoning: 1 }, true],
  [{}, { output: 1, reasoning: 386 }, true],
] as const)('BILL-11 a total with reasoning beside the completion, and the row %j', async ([row, counts, differs]) => {
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 1,
    total_tokens: 399,
    completion_tokens_details: { reasoning_tokens: 386 },
  };
  const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }];
  const chunk = JSON.stringify({ id: 'c', model: 'm', choices, usage });
  const ask = (body: string, stream: boolean) =>
    wireTo({ body })
      .wire.buildCall(wireCall({ provider: row, stream }))
      .send(dispatch());
  const streamed = await ask(`data: ${chunk}\n\ndata: [DONE]\n\n`, true);
  if (streamed.kind !== 'stream') throw new Error('expected a stream');
  const { value: end } = await streamed.events.next();
  const plain = answerOf(await ask(completion({ usage }), false)).usage;
  const usages = [plain, end?.kind === 'end' ? end.usage : undefined, streamed.usageSoFar()];
  for (const one of usages) expect(one).toMatchObject({ input: 12, ...counts });
  expect(usages.map((one) => one?.totalDiffers)).toEqual([differs, differs, differs]);
});
