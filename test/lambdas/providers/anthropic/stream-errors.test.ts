import { expect, test } from 'vitest';
import { codeOf, event, fixture, framesIn, inPieces, readNative, readNeutral } from './messages-reading.ts';

const frames = framesIn(fixture('basic.sse'));
const errorOf = (type: string, message = 'words'): string =>
  event({ type: 'error', error: { details: null, type, message }, request_id: 'req_011' });

const rows = [
  ['overloaded_error', 'upstream_capacity'],
  ['rate_limit_error', 'upstream_capacity'],
  ['api_error', 'upstream_error'],
  ['invalid_request_error', 'invalid_request_error'],
  ['authentication_error', 'service_unavailable'],
  ['billing_error', 'service_unavailable'],
  ['permission_error', 'service_unavailable'],
  ['not_found_error', 'model_unavailable'],
  ['request_too_large', 'invalid_request_error'],
  ['timeout_error', 'upstream_timeout'],
  ['conflict_error', 'upstream_error'],
  ['something_new', 'upstream_error'],
] as const;

for (const [protocol, read] of [
  ['native', readNative],
  ['neutral', readNeutral],
] as const) {
  test.for(rows)(`ERR-9 ${protocol}: the event %s is %s`, async ([type, code]) => {
    const { error, end } = await read(inPieces(errorOf(type)));
    expect([codeOf(error), end]).toEqual([code, undefined]);
  });

  test(`ERR-4 ${protocol}: no content precedes an error that follows the announcement`, async () => {
    const { error, openings, native, deltas } = await read(inPieces(fixture('error-after-start.sse')));
    expect(codeOf(error)).toBe('upstream_capacity');
    expect([openings, native.length + deltas.length]).toEqual([1, protocol === 'native' ? 1 : 0]);
  });

  test.for([4, 5, 7])(`ERR-4 ${protocol}: an error after %i events ends the stream without an end`, async (count) => {
    const { end, error } = await read(inPieces(...frames.slice(0, count), errorOf('api_error')));
    expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
  });

  test(`ERR-3 ${protocol}: the gateway’s spent credit is not the client’s fault`, async () => {
    const spent = errorOf('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.');
    const { error, notices } = await read(inPieces(spent));
    expect([codeOf(error), notices]).toEqual(['service_unavailable', ['vendor_refused_us']]);
  });

  test(`CHAT-14 ${protocol}: output blocked instead of an end is content_filter`, async () => {
    const blocked = errorOf('invalid_request_error', 'Output blocked by content filtering policy');
    expect(codeOf((await read(inPieces(...frames.slice(0, 4), blocked))).error)).toBe('content_filter');
  });

  test.for([
    ['a page of HTML', '<html><body>Bad gateway</body></html>'],
    ['nothing', ''],
    ['JSON without events', '{"type":"message"}'],
    ['a start that is not JSON', 'event: message_start\ndata: hello\n\n'],
    ['a start that is not an object', 'event: message_start\ndata: [1]\n\n'],
    ['an error that is not JSON', 'event: error\ndata: boom\n\n'],
    ['an unnamed event that is not JSON', 'data: boom\n\n'],
  ])(`ERR-9 ${protocol}: %s instead of a stream is upstream_error`, async ([, text]) => {
    const { end, error } = await read(inPieces(text ?? ''));
    expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
  });

  test(`ERR-5 ${protocol}: the provider key is not shown if an error quotes it`, async () => {
    const { error } = await read(inPieces(errorOf('invalid_request_error', 'bad sk-vendor-canary here')));
    expect(String(error)).toContain('bad [redacted] here');
  });
}

test.for([
  ['an invalid block', event({ type: 'content_block_start', index: 0, content_block: 'x' })],
  ['a call without an id', event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use' } })],
  ['an invalid delta', event({ type: 'content_block_delta', index: 0, delta: null })],
  ['an invalid text', event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 5 } })],
])('ERR-9 neutral: %s is upstream_error', async ([, odd]) => {
  expect(codeOf((await readNeutral(inPieces(frames[0] ?? '', odd ?? '', ...frames.slice(1)))).error)).toBe(
    'upstream_error',
  );
});
