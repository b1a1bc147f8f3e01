import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';
import { create, errorOf, poll, tasksPath, toBody } from './ask.ts';

const { simulator } = await startSimulated();

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
