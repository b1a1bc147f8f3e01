import { expect, test } from 'vitest';
import { newMediaLink } from '../../../lambdas/core/images/media.ts';
import { createGetMedia } from '../../../lambdas/protocols/media/handler.ts';
import { mediaFunctionCode, viewerFunctionCode } from '../../../lib/edge/function-code.ts';
import { createChain } from '../../lambdas/http/chain.ts';
import { functionUrlEvent, invoke } from '../../lambdas/http/function-url.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';
import { MemoryMediaStore } from '../../support/memory/memory-media-store.ts';
import { type EdgeResponse, runEdgeFunction, toEdgeRequest } from './edge-function.ts';

const START = Date.UTC(2026, 10, 22);
const newMediaToken = () => '00112233445566778899aabbccddeeff';
const values = { largeBodyOrigin: '', bucketOrigin: 'bucket', mediaOrigin: 'content' };

/** Returns the program's own response to a link made at START, this many milliseconds later. */
const ofProgram = async (laterMs: number) => {
  const clock = new ManualClock(START);
  const media = new MemoryMediaStore();
  const { name } = newMediaLink({ media, newMediaToken, mediaUrl: '' }, START);
  await media.put(name, Buffer.from('image'), 'image/png');
  await clock.advance(laterMs);
  const ports = { media, now: () => clock.now(), finished: () => undefined };
  const chain = await createChain({ clock, handle: createGetMedia(ports) });
  const answer = await invoke(chain.handler, functionUrlEvent({ path: `/media/${name}` }));
  return { answer, request: toEdgeRequest('GET', `/media/${name}`), nowMs: clock.now() };
};

const headersOf = ({ headers }: EdgeResponse) =>
  Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value]));

test('IMG-6 the edge rejects an expired link with the same error as the program', async () => {
  const { answer, request, nowMs } = await ofProgram(86_400_000);
  const { result } = runEdgeFunction(viewerFunctionCode(values), nowMs, { request });
  const refused = result as EdgeResponse;
  expect([refused.statusCode, refused.body]).toEqual([answer.status, answer.text]);
  // CloudFront adds the length of a body that a function returns.
  const { 'content-length': length, ...headers } = answer.headers;
  expect(Number(length)).toBe(Buffer.byteLength(refused.body ?? ''));
  expect(headersOf(refused)).toEqual({ ...headers, 'x-request-id': expect.any(String) });
});

test.each([0, 1, 999, 1_000, 43_200_500, 86_399_000])(
  "IMG-6 an image from the bucket has the program's headers %d ms later",
  async (laterMs) => {
    const { answer, request, nowMs } = await ofProgram(laterMs);
    const stored = {
      'content-type': answer.headers['content-type']!,
      'content-length': answer.headers['content-length']!,
    };
    const headers = Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, { value }]));
    const { result } = runEdgeFunction(mediaFunctionCode(), nowMs, { request, response: { statusCode: 200, headers } });
    expect(headersOf(result as EdgeResponse)).toEqual({ ...answer.headers, 'x-request-id': expect.any(String) });
  },
);

test('IMG-6 the edge does not change a response from a function', () => {
  const response = { statusCode: 204, headers: { 'x-request-id': { value: '01ARZ3NDEKTSV4RRFFQ69G5FAV' } } };
  const request = toEdgeRequest('OPTIONS', '/media/x');
  expect(runEdgeFunction(mediaFunctionCode(), START, { request, response }).result).toEqual(response);
});
