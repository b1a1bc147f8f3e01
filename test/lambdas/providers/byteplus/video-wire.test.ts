import { expect, test } from 'vitest';
import { createArkVideoWire } from '../../../../lambdas/providers/byteplus/video-wire.ts';
import { cancelled, expired, failedWith, queued, running, succeeded } from '../../../fixtures/byteplus/video-tasks.ts';
import { inPieces } from '../openai/stream-reading.ts';
import { CANARY, errorOf, failureOf, opened, statusOf, wholeOf, wireWorld } from '../video-wire-world.ts';

const statusFor = (body: object) => statusOf(createArkVideoWire, { body });

test('VID-3 every status of the provider is read', async () => {
  expect(await statusFor(queued)).toEqual({ kind: 'queued' });
  expect(await statusFor(running)).toEqual({ kind: 'running', progress: undefined });
  expect(await statusFor(succeeded)).toMatchObject({ kind: 'succeeded', tokens: 108_900 });
  expect(failureOf(await statusFor(cancelled))).toEqual({
    code: 'upstream_error',
    message: 'The provider could not create the video. Its message: Cancelled. Nothing was charged.',
  });
  expect(failureOf(await statusFor(expired))).toEqual({
    code: 'upstream_error',
    message: 'The provider could not create the video. Its message: Expired. Nothing was charged.',
  });
});

test.for([
  'InputTextSensitiveContentDetected',
  'InputImageSensitiveContentDetected.PrivacyInformation',
  'OutputVideoSensitiveContentDetected',
  'OutputVideoSensitiveContentDetected.PolicyViolation',
  'OutputAudioSensitiveContentDetected',
  'SensitiveContentDetected.Violence',
  'OutputImageRiskDetection',
])('VID-3 a job that failed with %s was filtered', async (code) => {
  const words = 'The request failed because the output video may contain sensitive information.Request ID: 02178a-b';
  expect(failureOf(await statusFor(failedWith(code, words)))).toEqual({
    code: 'content_filter',
    message:
      'The safety filter of the provider stopped the video. Its message: The request failed because the output video may contain sensitive information. Nothing was charged.',
  });
});

test.for(['ContentSecurityDetectionError', 'InternalServiceError', 'InvalidParameter', ''])(
  'VID-3 a job that failed with %j was not filtered',
  async (code) => {
    expect(failureOf(await statusFor(failedWith(code, 'x')))).toMatchObject({ code: 'upstream_error' });
  },
);

test.for([
  [0, 0],
  [108_900, 108_900],
  [1e300, Number.MAX_SAFE_INTEGER],
  [7.5, undefined],
  [-1, undefined],
  ['5', undefined],
  [null, undefined],
  [true, undefined],
  [undefined, undefined],
] as const)('VID-6 a count of %j is %j', async ([count, tokens]) => {
  expect(await statusFor({ ...succeeded, usage: { completion_tokens: count } })).toMatchObject({ tokens });
});

test.for([undefined, null, [], 5, { total_tokens: 5 }])('BILL-10 a usage of %j is not a usage', async (usage) => {
  expect(await statusFor({ ...succeeded, usage })).toMatchObject({ kind: 'succeeded', tokens: undefined });
});

const noAddress = ['', 'x', '/a.mp4', '//a.test/b', 'file:///etc/passwd', 'ftp://a.test/b', 'data:video/mp4,x'];

test.for([undefined, null, 5, ['https://a.test/'], ...noAddress, 'https://', `https://a.test/${'x'.repeat(8_192)}`])(
  'VID-5 a success with the URL %j is unknown',
  async (address) => {
    expect(await statusFor({ ...succeeded, content: { video_url: address } })).toEqual({ kind: 'unknown' });
  },
);

test.for([undefined, null, [], 'https://a.test/'])(
  'VID-5 a success with the content %j is unknown',
  async (content) => {
    expect(await statusFor({ ...succeeded, content })).toEqual({ kind: 'unknown' });
  },
);

test('VID-5 the file is fetched from its own URL, without the provider key', async () => {
  const file = { headers: { 'content-length': '10' }, body: inPieces('ftyp', 'movie!') };
  const world = wireWorld(createArkVideoWire, { body: succeeded }, file);
  const { bytes, length } = await opened(await world.poll());
  expect([await wholeOf({ bytes, length }), length]).toEqual(['ftypmovie!', 10]);
  expect(world.requests[1]).toMatchObject({ method: 'GET', url: succeeded.content.video_url });
  expect(world.requests[1]?.headers).toEqual({ accept: 'video/mp4, */*;q=0.1', 'accept-encoding': 'identity' });
  expect(JSON.stringify(world.requests[1])).not.toContain(CANARY);
});

test.for([204, 206, 301, 302, 307, 403, 404, 500])(
  'VID-5 a file with status %i is an error, and redirects are not followed',
  async (status) => {
    const file = { status, headers: { location: 'https://other.test/' }, body: 'ftyp' };
    const world = wireWorld(createArkVideoWire, { body: succeeded }, file);
    expect(await errorOf(opened(await world.poll()))).toMatchObject({ code: 'upstream_error' });
    expect(world.requests).toHaveLength(2);
  },
);

test.for(['NotFound.task', 'ResourceNotFound'])(
  'VID-7 400 with the code %s means that the job is gone',
  async (code) => {
    const answer = { status: 400, body: { error: { code, message: 'x' } } };
    expect(await statusOf(createArkVideoWire, answer)).toEqual({ kind: 'gone' });
  },
);

test('VID-7 400 with another code is an error', async () => {
  for (const code of ['NotFoundation', 'InvalidEndpointOrModel.NotFound', 'InvalidParameter']) {
    const answer = { status: 400, body: { error: { code, message: 'x' } } };
    await errorOf(wireWorld(createArkVideoWire, answer).poll());
  }
});
