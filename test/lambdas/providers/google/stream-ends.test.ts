import { expect, test } from 'vitest';
import { codeOf, cutAfter, eventsIn, fixture, inPieces, readAll, textIn, toSse } from './stream-reading.ts';

const protocols = ['generate_content', 'chat_completions'] as const;
const counts = { input: 11, cacheRead: 4, cacheWrite: 0, cacheWrite1h: 0, output: 20, reasoning: 0 };
const events = eventsIn(fixture('text'));

for (const protocol of protocols) {
  test(`BILL-9 a stream cut or closed before its last event is an error: ${protocol}`, async () => {
    for (let sent = 0; sent <= events.length; sent += 1) {
      for (const end of [cutAfter, inPieces]) {
        const read = await readAll(end(toSse(events.slice(0, sent))), protocol);
        const expected = sent === events.length ? [counts, undefined] : [undefined, 'upstream_error'];
        expect([sent, read.end?.usage, read.error && codeOf(read.error)]).toEqual([sent, ...expected]);
      }
    }
  });

  test(`BILL-9 a stream cut inside its last event has no usage: ${protocol}`, async () => {
    const text = toSse(events);
    for (const left of [text.length - 3, text.length - 40]) {
      const { end, error } = await readAll(cutAfter(text.slice(0, left)), protocol);
      expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
    }
  });

  test(`BILL-9 a stream cut between its finish reason and its usage is incomplete: ${protocol}`, async () => {
    const alone = eventsIn(fixture('usage-alone'));
    const cut = await readAll(cutAfter(toSse(alone.slice(0, 3))), protocol);
    expect([cut.end, codeOf(cut.error)]).toEqual([undefined, 'upstream_error']);
    const whole = await readAll(cutAfter(toSse(alone)), protocol);
    expect(whole.end?.usage).toEqual({ ...counts, input: 37, cacheRead: 0, output: 2 });
  });

  test(`BILL-10 an end without any usage has no usage: ${protocol}`, async () => {
    const silent = eventsIn(fixture('usage-alone')).slice(1, 3);
    const { end, error } = await readAll(inPieces(toSse(silent)), protocol);
    expect([end?.usage, error, end === undefined]).toEqual([undefined, undefined, false]);
  });

  test(`BILL-11 an end without usage keeps the counts before it: ${protocol}`, async () => {
    const last = events.map((data, index) =>
      index === events.length - 1 ? data.replace('"usageMetadata"', '"unused"') : data,
    );
    const { end, usageSoFar } = await readAll(inPieces(toSse(last)), protocol);
    const kept = { ...counts, input: 15, cacheRead: 0, output: 14 };
    expect([end?.usage, usageSoFar]).toEqual([kept, kept]);
  });

  test(`BILL-11 a last usage without counts keeps those before it: ${protocol}`, async () => {
    for (const last of [{}, { promptTokenCount: 0, candidatesTokenCount: 0 }, { candidatesTokenCount: 20 }]) {
      const ending = JSON.stringify({ candidates: [{ finishReason: 'STOP', index: 0 }], usageMetadata: last });
      const { end } = await readAll(inPieces(toSse([...events.slice(0, -1), ending])), protocol);
      const output = last.candidatesTokenCount || 14;
      expect(end?.usage).toEqual({ ...counts, input: 15, cacheRead: 0, output });
    }
  });

  test(`BILL-21 the usage so far is known before the end: ${protocol}`, async () => {
    const cut = await readAll(cutAfter(toSse(events.slice(0, -1))), protocol);
    expect([cut.end, cut.usageSoFar]).toEqual([undefined, { ...counts, input: 15, cacheRead: 0, output: 14 }]);
    const none = await readAll(cutAfter(''), protocol);
    expect(none.usageSoFar).toBeUndefined();
  });

  test(`BILL-10 a usage without valid counts is not a usage: ${protocol}`, async () => {
    const odd = events.map((data) => data.replaceAll(/"(\w+TokenCount)":(\d+)/g, '"$1":"$2"'));
    const { end, error } = await readAll(inPieces(toSse(odd)), protocol);
    expect([end?.usage, error, end === undefined]).toEqual([undefined, undefined, false]);
  });

  test(`BILL-7 an unreadable count does not make the others free: ${protocol}`, async () => {
    const odd = events.map((data) => data.replace('"promptTokenCount":15', '"promptTokenCount":"15"'));
    const { end, error } = await readAll(inPieces(toSse(odd)), protocol);
    expect([end?.usage, error]).toEqual([{ ...counts, input: 0, cacheRead: 0 }, undefined]);
  });

  test(`BILL-9 the last of several usages after the finish reason counts: ${protocol}`, async () => {
    const more = JSON.stringify({ usageMetadata: { promptTokenCount: 15, candidatesTokenCount: 21 } });
    const { end } = await readAll(inPieces(toSse([...events, more])), protocol);
    expect(end?.usage).toEqual({ ...counts, output: 21 });
    const silent = await readAll(inPieces(toSse([...events, more, '{"responseId":"x"}'])), protocol);
    expect(silent.end?.usage).toEqual(end?.usage);
  });

  test(`BILL-9 an unspecified finish reason is not a finish reason: ${protocol}`, async () => {
    const going = events.map((data) =>
      data.replace('"finishReason":"STOP"', '"finishReason":"FINISH_REASON_UNSPECIFIED"'),
    );
    expect(codeOf((await readAll(inPieces(toSse(going)), protocol)).error)).toBe('upstream_error');
  });

  test(`ERR-4 an error event ends the stream with that error, at any position: ${protocol}`, async () => {
    const [begun = '', failed = ''] = eventsIn(fixture('error'));
    for (const sent of [[failed], [begun, failed], [...events, failed]]) {
      const { end, error } = await readAll(inPieces(toSse(sent)), protocol);
      expect([end, codeOf(error)]).toEqual([undefined, 'service_unavailable']);
    }
  });

  test.for([
    [400, 'invalid_request_error'],
    [403, 'service_unavailable'],
    [404, 'model_unavailable'],
    [429, 'upstream_capacity'],
    [499, 'upstream_error'],
    [500, 'upstream_error'],
    [503, 'service_unavailable'],
    [504, 'upstream_timeout'],
    ['429', 'upstream_error'],
    [undefined, 'upstream_error'],
  ] as const)(`ERR-9 an error event of number %s is %s: ${protocol}`, async ([code, expected]) => {
    const failed = JSON.stringify({ error: { code, message: 'words', status: 'X' } });
    const { error } = await readAll(inPieces(toSse([failed])), protocol);
    expect(codeOf(error)).toBe(expected);
    const listed = await readAll(inPieces(toSse([`[${failed}]`])), protocol);
    expect(codeOf(listed.error)).toBe(expected);
  });

  test.for(['<html>', '[]', '"text"', 'null', '{"candidates":1}', '{"candidates":["x"]}'])(
    `ERR-9 a first event %s is upstream_error: ${protocol}`,
    async (data) => {
      expect(codeOf((await readAll(inPieces(toSse([data])), protocol)).error)).toBe('upstream_error');
    },
  );
}

test('GEM-1 a blocked prompt and a blocked response pass and are charged by usage', async () => {
  const prompt = await readAll(inPieces(fixture('blocked-prompt')), 'generate_content');
  expect([prompt.native, prompt.openings, prompt.end?.usage?.input]).toEqual([[], 0, 22]);
  const answer = await readAll(cutAfter(fixture('safety')), 'generate_content');
  expect(answer.end?.usage).toMatchObject({ input: 12, output: 4 });
  expect(answer.end?.ending).toMatchObject({ events: [expect.stringContaining('"SAFETY"')] });
});

test('CHAT-14 for chat a blocked prompt is content_filter before any content', async () => {
  const { deltas, openings, end, error } = await readAll(inPieces(fixture('blocked-prompt')), 'chat_completions');
  expect([deltas, openings, end, codeOf(error)]).toEqual([[], 0, undefined, 'content_filter']);
});

test('CHAT-14 for chat a stream blocked after content ends with content_filter and its usage', async () => {
  const { deltas, end, error } = await readAll(inPieces(fixture('safety')), 'chat_completions');
  expect([textIn(deltas), error]).toEqual(['Take two spoons', undefined]);
  expect(end).toMatchObject({ ending: { finishReason: 'content_filter' }, usage: { input: 12, output: 4 } });
});

test('CHAT-14 for chat a stream blocked after content without usage is an error', async () => {
  const without = eventsIn(fixture('safety')).map((data) => data.replace('"usageMetadata"', '"noUsage"'));
  const { deltas, end, error } = await readAll(inPieces(toSse(without)), 'chat_completions');
  expect([textIn(deltas), end, codeOf(error)]).toEqual(['Take two spoons', undefined, 'content_filter']);
});

test('CHAT-14 the chunk that reports the block has no content for the client', async () => {
  const last = events.map((data) => data.replace('"finishReason":"STOP"', '"finishReason":"RECITATION"'));
  const { deltas, end } = await readAll(inPieces(toSse(last)), 'chat_completions');
  expect([textIn(deltas).endsWith('café <b>'), end?.ending]).toEqual([
    true,
    { kind: 'neutral', finishReason: 'content_filter' },
  ]);
});

test('BILL-9 one finish reason of two candidates is not the end', async () => {
  const two = eventsIn(fixture('two-candidates'));
  for (let sent = 0; sent < two.length; sent += 1) {
    const { end, error } = await readAll(cutAfter(toSse(two.slice(0, sent))), 'generate_content', 2);
    expect([sent, end, codeOf(error)]).toEqual([sent, undefined, 'upstream_error']);
  }
  const { end } = await readAll(cutAfter(toSse(two)), 'generate_content', 2);
  expect(end?.usage).toMatchObject({ input: 5, output: 4 });
});
