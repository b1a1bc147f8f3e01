import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../../../lib/local/upstreams/server.ts';
import { create, errorOf, poll, tasksPath, toBody } from './ask.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

const fast = { model: 'dreamina-seedance-2-0-fast-260128' };
const image = (url: string, role?: string) => ({ type: 'image_url', image_url: { url }, role });
const png = 'data:image/png;base64,iVBORw0KGgo=';
const withImages = (...images: object[]) => toBody('', { content: [{ type: 'text', text: 'a sea' }, ...images] });

test.each<[string, unknown, string]>([
  ['a length beyond the model', toBody('a', { duration: 16 }), 'duration'],
  ['a length short of it', toBody('a', { duration: 3 }), 'duration'],
  ['a length that is a string', toBody('a', { duration: '4' }), 'duration'],
  ['a resolution the fast model lacks', toBody('a', { ...fast, resolution: '1080p' }), 'resolution'],
  ['a resolution nobody has', toBody('a', { resolution: '540p' }), 'resolution'],
  ['a ratio nobody has', toBody('a', { ratio: '16:10' }), 'ratio'],
  ['frames in place of seconds', toBody('a', { frames: 57 }), 'frames'],
  ['a seed out of range', toBody('a', { seed: 4_294_967_296 }), 'seed'],
  ['the slow tier', toBody('a', { service_tier: 'flex' }), 'service_tier'],
  ['a part of another type', toBody('a', { content: [{ type: 'file', file: {} }] }), 'content.0.type'],
  ['two images without roles', withImages(image(png), image(png)), 'content'],
  ['a last frame alone', withImages(image(png, 'last_frame')), 'content'],
  ['a frame beside a reference', withImages(image(png, 'first_frame'), image(png, 'reference_image')), 'content'],
  ['what is no image', withImages(image('data:text/plain;base64,aGVsbG8=', 'first_frame')), 'content'],
  ['an image out of reach', withImages(image('https://gone.invalid/a.png', 'first_frame')), 'content'],
])('refuses %s', async (_, body, param) => {
  const response = await create(simulator, body);
  expect(response.status).toBe(400);
  const error = await errorOf(response);
  expect(error).toEqual({
    code: 'InvalidParameter',
    message: expect.stringMatching(/^The parameter `\S+` specified in the request is not valid.*\. Request id: 02\w+$/),
    param,
    type: 'BadRequest',
  });
  expect(error.message.endsWith(String(response.headers.get('x-request-id')))).toBe(true);
});

test.each<[string, unknown, string]>([
  ['no model', toBody('a', { model: undefined }), 'model'],
  ['no content', toBody('a', { content: undefined }), 'content'],
  ['no text and no image', toBody(''), 'content.text'],
])('misses %s', async (_, body, param) => {
  const response = await create(simulator, body);
  expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'MissingParameter', param }]);
});

test.each<[string, object]>([
  ['a first frame', { content: [{ type: 'text', text: 'a' }, image(png, 'first_frame')] }],
  ['a first frame without a role, and no text', { content: [image(png)] }],
  ['both frames', { content: [image(png, 'first_frame'), image(png, 'last_frame')] }],
  ['a length of its own choice', { duration: -1, ratio: 'adaptive' }],
  ['capitals', { resolution: '720P' }],
  ['a name it does not know', { colour: 'blue' }],
])('takes %s', async (_, more) => {
  expect((await create(simulator, toBody('a', more))).status).toBe(200);
});

test.each([
  ['[[status 500]]', 500, 'InternalServiceError', 'InternalServerError'],
  ['[[status 429 retry-after 7]]', 429, 'RateLimitExceeded.EndpointRPMExceeded', 'TooManyRequests'],
  ['[[vendor-401]]', 401, 'AuthenticationError', 'Unauthorized'],
  ['[[vendor-quota]]', 403, 'AccountOverdueError', 'Forbidden'],
  ['[[vendor-quota SetLimitExceeded]]', 429, 'SetLimitExceeded', 'TooManyRequests'],
  ['[[vendor-404]]', 404, 'InvalidEndpointOrModel.NotFound', 'NotFound'],
  ['[[content-filter]]', 400, 'InputTextSensitiveContentDetected', 'BadRequest'],
])('%s refuses the creation with %i %s', async (marker, status, code, type) => {
  const response = await create(simulator, toBody(marker));
  expect([response.status, await errorOf(response)]).toMatchObject([status, { code, type, param: '' }]);
  expect(response.headers.get('retry-after')).toBe(marker.includes('retry-after') ? '7' : null);
});

test('[[reset]], [[cut]], [[garbage]], [[delay]] and [[hang]] act on the creation', async () => {
  await expect(create(simulator, toBody('[[reset]]'))).rejects.toThrow();
  const cut = await create(simulator, toBody('[[cut 1]]'));
  await expect(cut.text()).rejects.toThrow();
  const garbage = await create(simulator, toBody('[[garbage]]'));
  expect([garbage.status, garbage.headers.get('content-type')]).toEqual([200, 'text/html']);
  const startedAtMs = Date.now();
  expect((await create(simulator, toBody('[[delay 150]]'))).status).toBe(200);
  expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(145);
  await expect(create(simulator, toBody('[[hang]]'), AbortSignal.timeout(150))).rejects.toThrow(/timeout/);
});

test('nothing is answered without a key, and an unknown id is not found', async () => {
  for (const method of ['POST', 'GET']) {
    const path = method === 'POST' ? tasksPath : `${tasksPath}/cgt-1`;
    const response = await fetch(`${simulator.url}${path}`, { method });
    expect([response.status, (await errorOf(response)).code]).toEqual([401, 'AuthenticationError']);
  }
  for (const id of ['cgt-1', 'cgt-', 'video_abc', `cgt-${Buffer.from('{}').toString('base64url')}`]) {
    expect((await poll(simulator, id)).status).toBe(404);
  }
});
