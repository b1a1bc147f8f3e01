import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { TextProtocol } from '../../../../lambdas/core/text/conversation.ts';
import type { WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import { tokensOfText } from '../../../../lambdas/core/text/token-estimate.ts';
import { ForwardedOutput, UnchargedOutput } from '../../../../lambdas/core/text/uncollected-text.ts';
import { filtered, incomplete } from '../../../../lambdas/providers/refusals.ts';
import { createMoment } from '../../../support/memory/faults.ts';
import { text } from '../catalog/sample-data.ts';
import { loggingSink, streamed } from './sink.ts';
import {
  answered,
  createWorld,
  ended,
  heldFor,
  INPUT_PICOS,
  OUTPUT_PICOS,
  raw,
  type StreamPart,
  streamOf,
  used,
  type World,
  type WorldOptions,
} from './text-world.ts';

/** Tries to write a charge, and then a release in its place. */
const COMMIT_WRITES = 8;
const PROMPT_PICOS = 100n * INPUT_PICOS;

/** A stream of these events, after which it waits for the deadline of its call. */
const stalled = (...events: readonly WireEvent[]) => stalledAt(undefined, ...events);

/** Such a stream whose provider has reported this usage by then. */
const stalledAt =
  (usage: TokenUsage | undefined, ...events: readonly WireEvent[]): NonNullable<WorldOptions['play']> =>
  async ({ signal }) => {
    async function* play() {
      yield* events;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }
    return { kind: 'stream', events: play(), close: () => undefined, usageSoFar: () => usage };
  };

const played =
  (...events: readonly StreamPart[]): NonNullable<WorldOptions['play']> =>
  async () =>
    streamOf(...events);

/** Sends a streamed request to its end. */
const streamTo = async (play: NonNullable<WorldOptions['play']>, options: WorldOptions = {}): Promise<World> => {
  const world = await createWorld({ ...options, play });
  const { sink } = loggingSink(world.log);
  const pumped = world
    .ask({ stream: true })
    .then((generated) => streamed(generated).pump(sink))
    .catch(() => undefined);
  await world.clock.advance(600_000);
  await pumped;
  return world;
};

const recorded = ({ records, money }: World) => {
  const [record] = records();
  const { uncollectedPicos: picos, usesAllowance, silentDeadline } = record ?? {};
  return { picos, usesAllowance, metered: money.at(-1)?.uncollected, ...(silentDeadline && { silentDeadline }) };
};

const chunk = (content: string) => raw(JSON.stringify({ choices: [{ delta: { content } }] }));

test('BILL-21 a deadline after content costs the estimated prompt and the forwarded output', async () => {
  const words = 'Once upon a time there was a gateway.';
  const picos = PROMPT_PICOS + BigInt(tokensOfText(words)) * OUTPUT_PICOS;
  const world = await streamTo(stalled(chunk(words.slice(0, 9)), chunk(words.slice(9))));
  expect(recorded(world)).toEqual({ picos, usesAllowance: true, metered: picos });
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n, reason: 'upstream_timeout' }]);
});

const WORDS = 'Once upon a time there was a gateway.';

test.for([
  ['the prompt that was reported', used(40, 1), 40n * INPUT_PICOS, tokensOfText(WORDS)],
  ['the output that was reported beyond it', used(40, 90), 40n * INPUT_PICOS, 90],
  ['reported reasoning', { ...used(40, 20), reasoning: 60 }, 40n * INPUT_PICOS, 80],
  ['the estimated prompt beside output', used(0, 90), PROMPT_PICOS, 90],
  ['an estimate if the counts are zeros', used(0, 0), PROMPT_PICOS, tokensOfText(WORDS)],
] as const)('BILL-21 a deadline after content costs %s', async ([, usage, promptPicos, answerTokens]) => {
  const picos = promptPicos + BigInt(answerTokens) * OUTPUT_PICOS;
  const world = await streamTo(stalledAt(usage, chunk(WORDS)));
  expect(recorded(world)).toEqual({ picos, usesAllowance: true, metered: picos });
});

test('BILL-21 a blocked output with counts of zero is estimated', async () => {
  const world = await createWorld({ play: () => Promise.reject(filtered(used(0, 0))) });
  await expect(world.ask()).rejects.toMatchObject({ code: 'content_filter' });
  expect(recorded(world).picos).toBe(PROMPT_PICOS);
});

test('BILL-21 a deadline before content costs the estimated prompt, and the account decides on its use', async () => {
  const expected = { picos: PROMPT_PICOS, usesAllowance: undefined, silentDeadline: true, metered: PROMPT_PICOS };
  expect(recorded(await streamTo(stalled()))).toEqual(expected);
  const neverStarted = streamTo(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  expect(recorded(await neverStarted)).toEqual(expected);
  const plain = await createWorld({
    play: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  const outcome = plain.ask().catch((error: unknown) => error);
  await plain.clock.advance(600_000);
  expect(await outcome).toMatchObject({ code: 'upstream_timeout' });
  expect(recorded(plain)).toEqual(expected);
});

test.for([
  ["the provider's counts", used(7, 3), 7n * INPUT_PICOS + 3n * OUTPUT_PICOS],
  ['the estimated prompt without counts', undefined, PROMPT_PICOS],
] as const)('BILL-21, CHAT-14 blocked output costs %s', async ([, usage, picos]) => {
  const expected = { picos, usesAllowance: true, metered: picos };
  const plain = await createWorld({ play: () => Promise.reject(filtered(usage)) });
  await expect(plain.ask()).rejects.toMatchObject({ status: 400, code: 'content_filter' });
  expect(recorded(plain)).toEqual(expected);
  expect(recorded(await streamTo(played(filtered(usage) as Error)))).toEqual(expected);
  const opening: WireEvent = { kind: 'native', events: ['role'], announcement: true };
  expect(recorded(await streamTo(played(opening, filtered(usage) as Error)))).toEqual(expected);
});

test("BILL-21 output that a provider's error event blocks after content uses the allowance", async () => {
  const world = await streamTo(played(raw('a'), new GatewayError('content_filter', 'blocked')));
  expect(recorded(world)).toEqual({ picos: PROMPT_PICOS, usesAllowance: true, metered: PROMPT_PICOS });
});

test('BILL-21 a prompt that the provider rejects costs nothing', async () => {
  const rejected = new GatewayError('content_filter', 'rejected');
  const world = await createWorld({ play: () => Promise.reject(rejected) });
  await expect(world.ask()).rejects.toBe(rejected);
  expect(recorded(world)).toEqual({ picos: undefined, usesAllowance: undefined, metered: undefined });
});

test.for([
  ['a broken connection', new GatewayError('upstream_error', 'broken')],
  ['a missing usage', incomplete()],
  ["the provider's own timeout", new GatewayError('upstream_timeout', 'slow')],
] as const)('BILL-21 %s after content is only counted', async ([, error]) => {
  const world = await streamTo(played(raw('a'), error));
  expect(recorded(world)).toEqual({ picos: PROMPT_PICOS, usesAllowance: undefined, metered: PROMPT_PICOS });
});

test('BILL-21 a failure before content costs nothing', async () => {
  const world = await streamTo(played(new GatewayError('upstream_error', 'broken')));
  expect(recorded(world)).toEqual({ picos: undefined, usesAllowance: undefined, metered: undefined });
});

test("BILL-21 output that breaks off costs the provider's counts and uses the allowance", async () => {
  const world = await createWorld({
    play: () => Promise.reject(new UnchargedOutput('upstream_error', 'broken off', used(7, 3))),
  });
  await expect(world.ask()).rejects.toMatchObject({ code: 'upstream_error' });
  const picos = 7n * INPUT_PICOS + 3n * OUTPUT_PICOS;
  expect(recorded(world)).toEqual({ picos, usesAllowance: true, metered: picos });
});

test('BILL-21 at most the hold is counted', async () => {
  const long = chunk('some more words '.repeat(400));
  expect(recorded(await streamTo(stalled(long))).picos).toBe(heldFor(100));
  const world = await createWorld({ play: () => Promise.reject(filtered(used(900, 100))) });
  await expect(world.ask()).rejects.toMatchObject({ code: 'content_filter' });
  expect(recorded(world).picos).toBe(heldFor(100));
});

test('BILL-21 a charge that the commit loses is counted by the commit alone', async () => {
  const world = await streamTo(played(raw('a'), ended()), {
    // Neither the charge nor the release that replaces it is written. The release of the failed request is.
    fault: (method, turn) => (method === 'putRecord' && turn < COMMIT_WRITES ? { kind: 'fails' } : undefined),
    outboxFaults: { put: { kind: 'fails' } },
  });
  expect(world.records()).toMatchObject([{ outcome: 'released', reason: 'service_unavailable' }]);
  expect(world.records()[0]).not.toHaveProperty('uncollectedPicos');
  expect(world.money.flatMap(({ uncollected }) => uncollected ?? [])).toEqual([40n * INPUT_PICOS + 10n * OUTPUT_PICOS]);
});

test('BILL-21 an account that used its allowance gets no hold, and the next day it does', async () => {
  const world = await createWorld({ play: () => Promise.reject(filtered(used(7, 3))), uncollectedDailyPicos: 1n });
  await expect(world.ask()).rejects.toMatchObject({ code: 'content_filter' });
  expect((await world.account()).uncollected).toEqual({
    day: '2026-11-01',
    picos: 7n * INPUT_PICOS + 3n * OUTPUT_PICOS,
  });
  await expect(world.ask()).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    status: 429,
    retryAfterSeconds: 300,
    limit: 'uncollected',
    message: expect.stringContaining('2026-11-02T00:00:00Z'),
  });
  expect(world.sent).toHaveLength(1);
  expect((await world.account()).holds.size).toBe(0);
  await world.clock.advance(86_400_000);
  await expect(world.ask()).rejects.toMatchObject({ code: 'content_filter' });
});

describe('an account on probation', () => {
  const large = { outputTokensMax: 9_000 };
  const rejected = { code: 'rate_limit_exceeded', limit: 'probation', param: 'max_tokens', retryAfterSeconds: 30 };

  /** An account whose first request exceeded its allowance, with a second one in progress. */
  const onProbation = async (options: WorldOptions = {}) => {
    const open = createMoment();
    let calls = 0;
    const play: WorldOptions['play'] = async () => {
      calls += 1;
      if (calls === 1) throw filtered(used(7, 3));
      if (calls === 2) await open.until;
      return answered();
    };
    const world = await createWorld({ uncollectedDailyPicos: INPUT_PICOS * 10n, usd: '50', ...options, play });
    await expect(world.ask()).rejects.toMatchObject({ code: 'content_filter' });
    const second = world.ask(large);
    return {
      ...world,
      end: async () => {
        open.come();
        await second;
      },
    };
  };

  test('BILL-21 a large request waits for the open ones, and a small one does not', async () => {
    const world = await onProbation();
    await expect(world.ask(large)).rejects.toMatchObject(rejected);
    expect((await world.ask({ outputTokensMax: 8_192 })).kind).toBe('answer');
    await world.end();
    expect((await world.ask(large)).kind).toBe('answer');
  });

  test('BILL-21 the limit counts the output of all choices', async () => {
    const world = await onProbation();
    const two = { choices: 2, outputTokensMax: 4_097 };
    await expect(world.ask(two)).rejects.toMatchObject({
      ...rejected,
      message: expect.stringContaining('Set max_tokens to at most 4096'),
    });
    await world.end();
  });

  test('BILL-6, BILL-21 without a limit from the client, the gateway sends one that is admitted', async () => {
    const models = [text({ limits: { contextTokens: 100_000, outputTokensMax: 32_000, outputTokensDefault: 16_000 } })];
    const world = await onProbation({ models });
    const answer = await world.ask({});
    expect(answer).toMatchObject({ kind: 'answer', chosenCap: 8_192 });
    expect(world.sent.at(-1)?.outputTokensMax).toBe(8_192);
    await world.end();
  });
});

const countOf = (protocol: TextProtocol, ...events: readonly (readonly string[])[]): number => {
  const output = new ForwardedOutput(protocol);
  for (const list of events) output.add({ kind: 'native', events: list });
  return output.tokens;
};

test.for<[TextProtocol, ...(readonly string[])[]]>([
  [
    'chat_completions',
    ['{"id":"x","choices":[{"delta":{"content":"one two"}}]}', '{"choices":[{"delta":{"content":" three"}}]}'],
  ],
  ['chat_completions', ['{"choices":[{"delta":{"tool_calls":[{"function":{"arguments": "one two three"}}]}}]}']],
  [
    'responses',
    ['event: response.output_text.delta\ndata: {"delta":"one two"}\n\n'],
    ['data: {"delta":" three"}\n\n', 'data: {"type":"response.output_text.done","text":"one two three"}\n\n'],
  ],
  ['messages', ['data: {"delta":{"type":"text_delta","text":"one two three"}}\n\n']],
  ['messages', ['data: {"delta":{"type":"input_json_delta","partial_json":"one two three"}}\n\n']],
  ['generate_content', ['{"candidates":[{"content":{"parts":[{"text":"one two three"}]}}]}']],
])('BILL-21 the new output in events of %s is counted once', ([protocol, ...events]) => {
  expect(countOf(protocol, ...events)).toBe(tokensOfText('one two three'));
});

test('BILL-21 escaped characters and quotes in events count as the characters that they are', () => {
  const text = 'она сказала: "да"\n\\';
  const escaped = [...JSON.stringify({ content: text })]
    .map((character) =>
      character < '\x80' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .join('');
  expect(countOf('chat_completions', [escaped])).toBe(tokensOfText(text));
  expect(countOf('chat_completions', ['{"content":"\\ud8zz"}'])).toBe(tokensOfText('\\ud8zz'));
  expect(countOf('chat_completions', ['{"content":"cut'])).toBe(tokensOfText('cut'));
});

test('BILL-21 output of other protocols is counted, and announcements are not', () => {
  const output = new ForwardedOutput('chat_completions');
  output.add({ kind: 'neutral', deltas: [], announcement: true });
  expect([output.hasContent, output.tokens]).toEqual([false, 0]);
  output.add({ kind: 'neutral', deltas: [{ kind: 'text', text: 'one ' }] });
  output.add({ kind: 'neutral', deltas: [{ kind: 'tool_call', index: 0, id: 'call', name: 'two' }] });
  output.add({ kind: 'neutral', deltas: [{ kind: 'tool_arguments', index: 0, text: '{}' }] });
  expect([output.hasContent, output.tokens]).toEqual([true, tokensOfText('one two{}')]);
});

test('BILL-21 a long output is counted in parts', () => {
  const part = 'word '.repeat(14_000);
  const output = new ForwardedOutput('chat_completions');
  for (let index = 0; index < 3; index += 1) output.add({ kind: 'neutral', deltas: [{ kind: 'text', text: part }] });
  expect(output.tokens).toBe(3 * tokensOfText(part));
});
