import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';
import { create, errorOf, poll, tasksPath, toBody } from './ask.ts';

const { simulator } = await startSimulated();

const fast = { model: 'dreamina-seedance-2-0-fast-260128' };
const image = (url: string, role?: string) => ({ type: 'image_url', image_url: { url }, role });
const png = 'data:image/png;base64,iVBORw0KGgo=';
const withImages = (...images: object[]) => toBody('', { content: [{ type: 'text', text: 'a sea' }, ...images] });

test.each<[string, unknown, string]>([
  ["a length above the model's maximum", toBody('a', { duration: 16 }), 'duration'],
  ["a length below the model's minimum", toBody('a', { duration: 3 }), 'duration'],
  ['a length that is a string', toBody('a', { duration: '4' }), 'duration'],
  ['a resolution that the fast model lacks', toBody('a', { ...fast, resolution: '1080p' }), 'resolution'],
  ['an unknown resolution', toBody('a', { resolution: '540p' }), 'resolution'],
  ['an unknown ratio', toBody('a', { ratio: '16:10' }), 'ratio'],
  ['frames instead of seconds', toBody('a', { frames: 57 }), 'frames'],
  ['a seed out of range', toBody('a', { seed: 4_294_967_296 }), 'seed'],
  ['the slow tier', toBody('a', { service_tier: 'flex' }), 'service_tier'],
  ['a part of another type', toBody('a', { content: [{ type: 'file', file: {} }] }), 'content.0.type'],
  ['two images without roles', withImages(image(png), image(png)), 'content'],
  ['a last frame alone', withImages(image(png, 'last_frame')), 'content'],
  ['a frame next to a reference', withImages(image(png, 'first_frame'), image(png, 'reference_image')), 'content'],
  ['a file that is not an image', withImages(image('data:text/plain;base64,aGVsbG8=', 'first_frame')), 'content'],
  ['an image that cannot be downloaded', withImages(image('https://gone.invalid/a.png', 'first_frame')), 'content'],
])('%s is rejected', async (_, body, param) => {
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
])('a request with %s is rejected', async (_, body, param) => {
  const response = await create(simulator, body);
  expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'MissingParameter', param }]);
});

test.each<[string, object]>([
  ['a first frame', { content: [{ type: 'text', text: 'a' }, image(png, 'first_frame')] }],
  ['a first frame without a role, and no text', { content: [image(png)] }],
  ['a first and a last frame', { content: [image(png, 'first_frame'), image(png, 'last_frame')] }],
  ['a length that the model chooses', { duration: -1, ratio: 'adaptive' }],
  ['capitals', { resolution: '720P' }],
  ['an unknown field', { colour: 'blue' }],
])('a request with %s is accepted', async (_, more) => {
  expect((await create(simulator, toBody('a', more))).status).toBe(200);
});

test('a request without a key gets 401, and an unknown id gets 404', async () => {
  for (const method of ['POST', 'GET']) {
    const path = method === 'POST' ? tasksPath : `${tasksPath}/cgt-1`;
    const response = await fetch(`${simulator.url}${path}`, { method });
    expect([response.status, (await errorOf(response)).code]).toEqual([401, 'AuthenticationError']);
  }
  for (const id of ['cgt-1', 'cgt-', 'video_abc', `cgt-${Buffer.from('{}').toString('base64url')}`]) {
    expect((await poll(simulator, id)).status).toBe(404);
  }
});
