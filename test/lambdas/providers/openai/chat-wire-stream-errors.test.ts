import { expect, test } from 'vitest';
import { codeOf, eventsIn, fixture, inPieces, type Reading, readAll, toSse } from './stream-reading.ts';

const events = eventsIn(fixture('chat-stream.sse'));

const inBand = (error: unknown): string => JSON.stringify({ error });
const server = { message: 'The server had an error', type: 'server_error', param: null, code: null };

const after = (count: number, data: string): Promise<Reading> =>
  readAll(inPieces(toSse([...events.slice(0, count), data, ...events.slice(count)])));

for (const count of [0, 1, 3, 5]) {
  test(`ERR-4 an error after ${count} events ends the stream without an end`, async () => {
    const { raw, end, error } = await after(count, inBand(server));
    expect([raw.length, end, codeOf(error)]).toEqual([Math.min(count, 4), undefined, 'upstream_error']);
  });
}

const rows = [
  ['rate_limit_exceeded', { code: 'rate_limit_exceeded', type: 'requests' }, 'upstream_capacity'],
  ['slow_down', { code: 'slow_down', type: 'server_error' }, 'upstream_capacity'],
  ['a number as code', { code: 429, type: null }, 'upstream_capacity'],
  ['503 as code', { code: 503, type: null }, 'service_unavailable'],
  ['529 as code', { code: '529', type: 'overloaded_error' }, 'upstream_capacity'],
  ['insufficient_quota', { code: 'insufficient_quota', type: 'insufficient_quota' }, 'service_unavailable'],
  ['401 as code', { code: 401, type: 'invalid_request_error' }, 'service_unavailable'],
  ['context', { code: 'context_length_exceeded', type: 'invalid_request_error' }, 'context_length_exceeded'],
  ['content policy', { code: 'content_policy_violation', type: 'invalid_request_error' }, 'content_filter'],
  ['server_error', { code: null, type: 'server_error' }, 'upstream_error'],
] as const;

for (const [name, error, code] of rows) {
  test(`ERR-9 in a stream: ${name} is ${code}`, async () => {
    const { error: thrown, notices } = await after(0, inBand({ message: 'words', param: null, ...error }));
    expect(codeOf(thrown)).toBe(code);
    expect(notices.includes('vendor_refused_us')).toBe(code === 'service_unavailable' && name !== '503 as code');
  });
}

test('ERR-9 an error that is only a string or has odd members still ends the stream', async () => {
  for (const error of ['boom', { message: 5 }, [], true, 0]) {
    expect(codeOf((await after(2, inBand(error))).error)).toBe('upstream_error');
  }
});

test('ERR-9 an error of null is not an error', async () => {
  const { end, error } = await readAll(inPieces(toSse(events.map((data) => data.replace(/^\{/, '{"error": null,')))));
  expect([error, end?.usage?.input]).toEqual([undefined, 15]);
});

test('ERR-9 an error inside another member is part of the content', async () => {
  const nested = (events[1] ?? '').replace('"delta"', '"content_filter_results":{"error":{"code":"x"}},"delta"');
  const { end, error } = await readAll(inPieces(toSse([events[0] ?? '', nested, ...events.slice(2)])));
  expect([error, end?.usage?.input]).toEqual([undefined, 15]);
});

test('CHAT-14 a content filter at the start is thrown before any event', async () => {
  const blocked = (events[4] ?? '').replace('"stop"', '"content_filter"');
  const { raw, end, error } = await readAll(inPieces(toSse([blocked, ...events.slice(5)])));
  expect([raw, end, codeOf(error)]).toEqual([[], undefined, 'content_filter']);
});

test('CHAT-14 a content filter after chunks without content is thrown', async () => {
  const empty = (events[1] ?? '').replace(/"delta":\{[^}]*\}/, '"delta":{"content":""}');
  const blocked = (events[4] ?? '').replace('"stop"', '"content_filter"');
  const { end, error } = await readAll(inPieces(toSse([events[0] ?? '', empty, empty, blocked, ...events.slice(5)])));
  expect([end, codeOf(error)]).toEqual([undefined, 'content_filter']);
});

test('CHAT-14 a content filter after content ends the stream with its reason and usage', async () => {
  for (const finish of ['"finish_reason":"content_filter"', '"finish_reason": "content_filter"']) {
    const blocked = (events[4] ?? '').replace('"finish_reason":"stop"', finish);
    const { raw, end, error } = await readAll(inPieces(toSse([...events.slice(0, 4), blocked, ...events.slice(5)])));
    expect([raw.length, error]).toEqual([4, undefined]);
    expect(end).toMatchObject({ event: { choices: [{ finish_reason: 'content_filter' }] } });
    expect(end?.usage).toBeDefined();
  }
});

test('CHAT-14 a content filter after content without usage is an error', async () => {
  const blocked = (events[4] ?? '').replace('"stop"', '"content_filter"');
  const { raw, end, error } = await readAll(inPieces(toSse([...events.slice(0, 4), blocked, '[DONE]'])));
  expect([raw.length, end, codeOf(error)]).toEqual([4, undefined, 'content_filter']);
});

test('CHAT-14 one blocked choice of two ends the stream with the usage of both', async () => {
  const two = eventsIn(fixture('chat-stream-two-choices.sse')).map((data) =>
    data.replace('"length"', '"content_filter"'),
  );
  const { end, error } = await readAll(inPieces(toSse(two)), { choices: 2 });
  expect([end?.usage === undefined, error]).toEqual([false, undefined]);
});

for (const [name, text] of [
  ['a page of HTML', '<html><body>Bad gateway</body></html>'],
  ['nothing', ''],
  ['JSON without events', '{"id":"x","choices":[]}'],
  ['an event that is not JSON', 'data: hello\n\n'],
  ['an event that is not an object', 'data: [1]\n\n'],
  ['a truncated event', 'data: {"id":\n\n'],
] as const) {
  test(`ERR-9 ${name} instead of a stream is upstream_error`, async () => {
    const { raw, end, error } = await readAll(inPieces(text));
    expect([raw, end, codeOf(error)]).toEqual([[], undefined, 'upstream_error']);
  });
}

test('ERR-5 the provider key is not shown if an error in a stream quotes it', async () => {
  const refusalContext = {
    message: 'bad sk-vendor-canary here',
    type: 'invalid_request_error',
    param: null,
    code: null,
  };
  const { error } = await after(1, inBand(refusalContext));
  expect(String(error)).toContain('bad [redacted] here');
  expect(String(error)).not.toContain('canary');
});
