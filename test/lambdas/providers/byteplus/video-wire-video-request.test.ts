import { expect, test } from 'vitest';
import type { VideoCreation } from '../../../../lambdas/core/videos/video-wire.ts';
import { createArkVideoWire } from '../../../../lambdas/providers/byteplus/video-wire.ts';
import { created } from '../../../fixtures/byteplus/video-tasks.ts';
import { errorOf, wireWorld } from '../video-wire-world.ts';

const sent = async (changes: Partial<VideoCreation>): Promise<unknown> => {
  const world = wireWorld(createArkVideoWire, { body: created });
  expect(await world.create(changes)).toBe(created.id);
  expect(world.requests).toHaveLength(1);
  return JSON.parse(world.requests[0]?.body ?? '');
};

test('VID-1 a creation has size and duration in the provider’s terms', async () => {
  expect(await sent({})).toEqual({
    model: 'vendor-name',
    content: [{ type: 'text', text: 'A cat' }],
    ratio: '16:9',
    resolution: '720p',
    duration: 4,
    generate_audio: true,
    watermark: false,
    execution_expires_after: 3_600,
  });
});

test.for([
  [1280, 720, '16:9', '720p'],
  [720, 1280, '9:16', '720p'],
  [1920, 1080, '16:9', '1080p'],
  [1080, 1920, '9:16', '1080p'],
  [1024, 1024, '1:1', '1024p'],
  [1024, 1792, '4:7', '1024p'],
] as const)('VID-1 %d by %d is %s at %s', async ([width, height, ratio, resolution]) => {
  expect(await sent({ width, height })).toMatchObject({ ratio, resolution });
});

test('VID-2 the first frame is sent unchanged', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  const reference = { mediaType: 'image/webp', bytes: bytes.subarray(3, 200) } as const;
  expect(await sent({ reference, seconds: 12 })).toMatchObject({
    duration: 12,
    content: [
      { type: 'text', text: 'A cat' },
      {
        type: 'image_url',
        image_url: { url: `data:image/webp;base64,${Buffer.from(bytes.subarray(3, 200)).toString('base64')}` },
        role: 'first_frame',
      },
    ],
  });
});

test.for([
  'A cat --dur 12',
  '--resolution 1080p',
  'x --RS 1080p',
  'x --duration=12',
  '--dur12',
  'x -- ratio 1:1',
  'x\n--fps 24 y',
  '--frames 289',
])('VID-6 the prompt %j would change the price and is rejected before a hold', async (prompt) => {
  const world = wireWorld(createArkVideoWire, { body: created });
  const error = await errorOf(world.check({ prompt, seconds: 4, width: 1280, height: 720 }));
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'prompt' });
  expect(error.message).toMatch(/^prompt: must not contain the command --\s?\w+\. /);
  expect(world.requests).toEqual([]);
});

test.for(['A cat -- running', 'x --seed 5', '--durable', '--rstu', 'ratio 1:1', '—dur', '-dur 5', '--ar 16:9', 'a--b'])(
  'GEN-5 the prompt %j is sent unchanged',
  async (prompt) => {
    expect(await sent({ prompt })).toMatchObject({ content: [{ type: 'text', text: prompt }] });
  },
);
