import { expect, test } from 'vitest';
import { createOpenaiVideoWire } from '../../../../lambdas/providers/openai/videos-wire.ts';
import { completed, failedWith, inProgress, queued } from '../../../fixtures/openai-videos/videos.ts';
import { CANARY, errorOf, failureOf, opened, statusOf, wholeOf, wireWorld } from '../video-wire-world.ts';
import { inPieces } from './stream-reading.ts';

const statusFor = (body: object) => statusOf(createOpenaiVideoWire, { body });

test('VID-1 a creation without a reference is JSON', async () => {
  const world = wireWorld(createOpenaiVideoWire, { body: queued });
  expect(await world.create()).toBe(queued.id);
  expect(world.requests[0]).toMatchObject({
    method: 'POST',
    url: 'https://vendor.test/v1/videos',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${CANARY}` },
  });
  expect(JSON.parse(world.requests[0]?.body ?? '')).toEqual({
    model: 'vendor-name',
    prompt: 'A cat',
    seconds: '4',
    size: '1280x720',
  });
});

test.for(['image/png', 'image/jpeg', 'image/webp'] as const)(
  'VID-2 a reference of %s is a file in a form',
  async (mediaType) => {
    const world = wireWorld(createOpenaiVideoWire, { body: queued });
    const bytes = Uint8Array.from({ length: 600 }, (_, at) => at % 256);
    const prompt = 'A "cat"; name=x é\u0000';
    await world.create({
      prompt,
      seconds: 12,
      width: 720,
      height: 1280,
      reference: { mediaType, bytes: bytes.subarray(5) },
    });
    const { body, bytes: sent, headers, method } = world.requests[0]!;
    expect([method, body]).toEqual(['POST', '']);
    const form = await new Response(new Uint8Array(sent!), {
      headers: { 'content-type': headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('input_reference');
    if (!(file instanceof File)) throw new Error('no file');
    form.delete('input_reference');
    expect(Object.fromEntries(form)).toEqual({ model: 'vendor-name', prompt, seconds: '12', size: '720x1280' });
    expect([file.type, file.name]).toEqual([mediaType, `input_reference.${mediaType.slice(6)}`]);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.from(bytes.subarray(5)));
  },
);

test('VID-3 every status of the provider is read', async () => {
  expect(await statusFor(queued)).toEqual({ kind: 'queued' });
  expect(await statusFor(inProgress)).toEqual({ kind: 'running', progress: 33 });
  expect(await statusFor(completed)).toMatchObject({ kind: 'succeeded', tokens: undefined });
  expect((await statusFor(failedWith('server_error', 'x'))).kind).toBe('failed');
});

test.for([
  [0, 0],
  [99.9, 99],
  [100, 100],
  [101, undefined],
  [-1, undefined],
  ['50', undefined],
  [null, undefined],
  [undefined, undefined],
] as const)('VID-3 a progress of %j is %j', async ([progress, read]) => {
  expect(await statusFor({ ...inProgress, progress })).toEqual({ kind: 'running', progress: read });
});

test.for(['moderation_blocked', 'content_policy_violation', 'content_filter'])(
  'VID-3 a job that failed with %s was filtered',
  async (code) => {
    expect(failureOf(await statusFor(failedWith(code, 'Blocked by moderation')))).toEqual({
      code: 'content_filter',
      message:
        'The safety filter of the provider stopped the video. Its message: Blocked by moderation. Nothing was charged.',
    });
  },
);

test.for([
  [400, { code: 'moderation_blocked', message: 'no' }, 'content_filter', null],
  [400, { message: 'must be one of 4, 8, 12', param: 'seconds' }, 'invalid_request_error', 'seconds'],
  [400, { message: 'Invalid image file', param: 'input_reference' }, 'invalid_image_format', 'input_reference'],
  [401, { code: 'invalid_api_key' }, 'service_unavailable', null],
  [404, { code: 'model_not_found' }, 'model_unavailable', 'model'],
  [200, { code: 'server_error', message: 'x' }, 'upstream_error', null],
  [200, { code: 'insufficient_quota', message: 'x' }, 'service_unavailable', null],
] as const)('ERR-9 %i with the error %j is %s about %s', async ([status, error, code, param]) => {
  expect(await errorOf(wireWorld(createOpenaiVideoWire, { status, body: { error } }).create())).toMatchObject({
    code,
    param,
  });
});

const file = { headers: { 'content-length': '10' }, body: inPieces('ftypmovie!') };

test('VID-5 the file is fetched from the content URL of the job, with the provider key', async () => {
  const world = wireWorld(createOpenaiVideoWire, { body: completed }, file);
  const got = await opened(await world.poll('a/b'));
  expect([await wholeOf(got), got.length]).toEqual(['ftypmovie!', 10]);
  expect(world.requests[1]).toMatchObject({
    method: 'GET',
    url: 'https://vendor.test/v1/videos/a%2Fb/content',
    headers: { authorization: `Bearer ${CANARY}`, accept: 'video/mp4, */*;q=0.1' },
  });
});

test.for([301, 302, 303, 307, 308])(
  'VID-5 a %i to a signed URL is followed once, without the provider key',
  async (status) => {
    const signed = 'https://files.vendor.test/a.mp4?sig=1%2F2';
    const moved = { status, headers: { location: signed }, body: 'go on' };
    const world = wireWorld(createOpenaiVideoWire, { body: completed }, moved, { ...file, body: 'ftypmovie!' });
    expect(await wholeOf(await opened(await world.poll()))).toBe('ftypmovie!');
    expect(world.requests).toHaveLength(3);
    expect(world.requests[2]).toMatchObject({ method: 'GET', url: signed });
    expect(world.requests[2]?.headers).toEqual({ accept: 'video/mp4, */*;q=0.1', 'accept-encoding': 'identity' });

    const twice = wireWorld(createOpenaiVideoWire, { body: completed }, moved, moved, file);
    expect(await errorOf(opened(await twice.poll()))).toMatchObject({ code: 'upstream_error' });
    expect(twice.requests).toHaveLength(3);
  },
);

test.for([
  'http://files.vendor.test/a.mp4',
  'http://169.254.169.254/',
  '/a.mp4',
  '//a.test/',
  'file:///a',
  'https://',
  'x',
  '',
])('VID-5 a redirect to %j is not followed', async (location) => {
  const world = wireWorld(createOpenaiVideoWire, { body: completed }, { status: 302, headers: { location } }, file);
  expect(await errorOf(opened(await world.poll()))).toMatchObject({ code: 'upstream_error' });
  expect(world.requests).toHaveLength(2);
});

test.for([
  [404, 'upstream_error'],
  [204, 'upstream_error'],
  [206, 'upstream_error'],
  [500, 'upstream_error'],
  [429, 'upstream_capacity'],
  [401, 'service_unavailable'],
] as const)('VID-5 a file with status %i is %s', async ([status, code]) => {
  const world = wireWorld(createOpenaiVideoWire, { body: completed }, { status, body: '{"error":{}}' });
  expect(await errorOf(opened(await world.poll()))).toMatchObject({ code });
  expect(world.notices).toEqual(status === 401 ? ['vendor_refused_us openai'] : []);
});
