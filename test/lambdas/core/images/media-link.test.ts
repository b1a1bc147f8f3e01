import { expect, test } from 'vitest';
import { linkImage, mediaEndsAt, newMediaLink } from '../../../../lambdas/core/images/media.ts';
import { MemoryMediaStore } from '../../../support/memory/memory-media-store.ts';

const token = '0123456789abcdef0123456789abcdef';
const NOW = Date.UTC(2026, 10, 20, 12, 0, 0, 999);
const END_SECONDS = Date.UTC(2026, 10, 21, 12) / 1_000;

const world = () => {
  const media = new MemoryMediaStore();
  return { media, newMediaToken: () => token, mediaUrl: 'https://media.example' };
};

test('IMG-6 the name of a link has its expiry in seconds and 128 random bits', () => {
  const { name, url } = newMediaLink(world(), NOW);
  expect(name).toBe(`${END_SECONDS}-${token}`);
  expect(url).toBe(`https://media.example/media/${name}`);
});

test('IMG-6 a link expires at most 24 hours after its creation', () => {
  const { name } = newMediaLink(world(), NOW);
  expect(mediaEndsAt(name)).toBe(END_SECONDS * 1_000);
  expect(mediaEndsAt(name)).toBeLessThanOrEqual(NOW + 24 * 60 * 60 * 1_000);
});

test.for([
  '',
  token,
  `-${token}`,
  `123456789-${token}`,
  `12345678901-${token}`,
  `1234567890-${token.slice(1)}`,
  `1234567890-${token}0`,
  `1234567890-${token.toUpperCase()}`,
  `1234567890_${token}`,
  `../1234567890-${token}`,
  `1234567890-${token}\n`,
])('IMG-6 %j is not the name of an image', (name) => {
  expect(mediaEndsAt(name)).toBeUndefined();
});

test('IMG-6 an image is stored with its type before its link is returned', async () => {
  const deps = world();
  const url = await linkImage(deps, NOW, Uint8Array.of(1, 2), 'image/webp');
  expect([...deps.media.files]).toEqual([
    [url.slice('https://media.example/media/'.length), { bytes: Uint8Array.of(1, 2), mediaType: 'image/webp' }],
  ]);
});
