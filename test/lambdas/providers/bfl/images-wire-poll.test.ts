import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { ImagesWithheld } from '../../../../lambdas/core/images/image-wire.ts';
import { createBflWire, growingWait } from '../../../../lambdas/providers/bfl/images-wire.ts';
import { drawingWorld } from '../drawing-world.ts';
import { errorOf } from '../video-wire-world.ts';
import { baseUrl, begun, creation, pending, ready, result } from './bfl-world.ts';

test('IMG-1 the time between two polls grows to two seconds', () => {
  const waits = Array.from({ length: 20 }, (_, round) => growingWait(round));
  expect(waits[0]).toBe(500);
  expect(waits.at(-1)).toBe(2_000);
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
});

test.for(['Queued', 'Processing', 'Reviewing', 'ready', ''])(
  'IMG-1 the status "%s" does not end the job',
  async (status) => {
    const bfl = begun(result(status), result(status), ready);
    expect((await bfl.draw()).images).toHaveLength(1);
    expect(bfl.requests).toHaveLength(4);
  },
);

test.for([
  ['Request Moderated', 'content_filter', 400],
  ['Content Moderated', 'content_filter', 400],
  ['Error', 'upstream_error', 502],
  ['Failed', 'upstream_error', 502],
] as const)('IMG-7 "%s" is %s, and costs nothing', async ([status, code, ours]) => {
  const bfl = begun(pending, result(status, { details: { 'Moderation Reasons': ['Safety Filter'] } }), ready);
  const error = await errorOf(bfl.draw());
  expect(error).toMatchObject({ code, status: ours });
  expect(error.message).toContain('Nothing was charged.');
  expect(bfl.requests).toHaveLength(3);
  // Only this status means that the provider generated an image.
  expect(error instanceof ImagesWithheld).toBe(status === 'Content Moderated');
});

test.for([{ result: null }, { result: {} }, { result: { sample: '' } }, { result: { sample: 7 } }])(
  'ERR-9 the status Ready with %j is unreadable',
  async (more) => {
    const bfl = begun(result('Ready', more), ready);
    expect(await errorOf(bfl.draw())).toMatchObject({ code: 'upstream_error' });
    expect(bfl.requests).toHaveLength(2);
  },
);

test.for([
  ['500', { status: 500, body: { detail: 'no' } }],
  ['503 of a proxy', { status: 503, body: '<html>' }],
  ['429', { status: 429, body: { detail: 'no' } }],
  ['a page of HTML', { body: '<html>' }],
  ['nothing', { body: '' }],
  ['a broken connection', new GatewayError('upstream_error', 'broke')],
  ['no connection', new GatewayError('service_unavailable', 'not reached')],
] as const)('GEN-5 a poll that fails with %s is repeated, because polls are free', async ([, answer]) => {
  const bfl = begun(...Array.from({ length: 9 }, () => answer), ready);
  expect((await bfl.draw()).images).toHaveLength(1);
  expect(bfl.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

const missing = result('Task not found');

test.for([
  ['refusalContext', missing],
  ['a 404', { ...missing, status: 404 }],
] as const)('ERR-9 a job that is not known yet is polled again, %s', async ([, answer]) => {
  const soon = begun(answer, answer, pending, answer, answer, answer, answer, ready);
  expect((await soon.draw()).images).toHaveLength(1);
  const never = begun(answer);
  expect(await errorOf(never.draw())).toMatchObject({ code: 'upstream_error' });
  expect(never.requests).toHaveLength(6);
});

test.for([401, 402, 403])('ERR-3 a poll that is refused with %i is 503 and reported', async (status) => {
  const bfl = begun({ status, body: { detail: 'Not authenticated' } }, ready);
  expect(await errorOf(bfl.draw())).toMatchObject({ code: 'service_unavailable', status: 503 });
  expect(bfl.notices).toEqual(['vendor_refused_us bfl']);
});

test.for([301, 400, 422])('ERR-9 a poll that is refused with %i is not the client’s fault', async (status) => {
  const bfl = begun({ status, body: { detail: 'no' } }, ready);
  expect(await errorOf(bfl.draw())).toMatchObject({ code: 'upstream_error', status: 502 });
});

const late = new GatewayError('upstream_timeout', 'too late');

const polling = (pollMs: () => number) =>
  drawingWorld(
    { modelId: 'flux-2-pro', baseUrl, create: (options) => createBflWire({ ...options, pollMs }) },
    { body: creation },
    { status: 500, body: '' },
  );

test('ERR-9 the deadline ends the pause between two polls, with its own reason', async () => {
  const paused = Promise.withResolvers<void>();
  const bfl = polling(() => {
    setImmediate(paused.resolve);
    return 3_600_000;
  });
  const error = errorOf(bfl.draw());
  await paused.promise;
  bfl.late.abort(late);
  expect(await error).toBe(late);
  expect(bfl.requests).toHaveLength(1);
});

test('ERR-9 a deadline that passes while polls fail ends them', async () => {
  let polls = 0;
  const bfl = polling(() => {
    polls += 1;
    if (polls === 3) bfl.late.abort(late);
    return 0;
  });
  expect(await errorOf(bfl.draw())).toBe(late);
  expect(bfl.requests).toHaveLength(3);
});
