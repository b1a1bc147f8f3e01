import { expect, test } from 'vitest';
import { chooseSize } from '../../../../lambdas/core/images/choose-size.ts';
import { imageModel, refusalOf } from './image-models.ts';

const model = imageModel('gpt-image-2-fixed');
const rest = { width: undefined, height: undefined, aspectRatio: undefined, hasReferences: false };
const choose = (size: string) => chooseSize(model, { size, ...rest });

/** Listed sizes by tier: ten aspect ratios in three tiers. */
const sizes = {
  '1K': '1280x1280 1280x720 720x1280 1280x848 848x1280 1280x960 960x1280 1280x1024 1024x1280 1280x544'.split(' '),
  '2K': '2048x2048 2048x1152 1152x2048 2048x1360 1360x2048 2048x1536 1536x2048 2048x1632 1632x2048 2048x864'.split(' '),
  '4K': '2880x2880 3840x2160 2160x3840 3840x2560 2560x3840 3840x2880 2880x3840 3840x3072 3072x3840 3840x1632'.split(
    ' ',
  ),
};
const listed = Object.entries(sizes).flatMap(([tier, members]) => members.map((size) => ({ tier, size })));

/**
 * Drawn dimensions of the sizes above 8,294,400 pixels, computed by hand: the largest multiples of 16 at this ratio
 * within that limit.
 */
const drawnSmaller: Readonly<Record<string, readonly [number, number]>> = {
  '3840x2560': [3504, 2336],
  '2560x3840': [2336, 3504],
  '3840x2880': [3264, 2448],
  '2880x3840': [2448, 3264],
  '3840x3072': [3200, 2560],
  '3072x3840': [2560, 3200],
};

test('IMG-9 each of the 30 sizes is accepted in its tier', () => {
  expect(listed).toHaveLength(30);
  for (const { tier, size } of listed) {
    const [width, height] = drawnSmaller[size] ?? size.split('x').map(Number);
    expect(choose(size)).toEqual({ kind: 'pixels', width, height, asked: size, tier });
  }
});

/** Neighbors and other spellings of the listed sizes, sizes of other models, and invalid values. */
const wrong: readonly string[] = [
  ...listed.flatMap(({ size }) => {
    const [width = 0, height = 0] = size.split('x').map(Number);
    return [
      `${width + 1}x${height}`,
      `${width}x${height - 16}`,
      `${width + 16}x${height + 16}`,
      `${width}X${height}`,
      `${width}×${height}`,
      `${width} x ${height}`,
      `0${width}x${height}`,
      `${size} `,
      `${size}\n`,
      `${width}x`,
      `${width}*${height}`,
    ];
  }),
  ...['', 'auto', '1K', '2K', '4K', 'x', '0x0', '-1280x-1280', '1024x1024', '1920x1080', '1280', '1280x1280x1280'],
  ...['1e3x1e3', 'NaNxNaN', '١٢٨٠x٧٢٠', '__proto__', 'constructor', 'x'.repeat(1_000_000), '9'.repeat(400)],
];

test('IMG-2 more than 200 sizes outside the list are rejected', () => {
  const others = new Set(wrong.filter((size) => !listed.some((each) => each.size === size)));
  expect(others.size).toBeGreaterThan(200);
  const refusals = [...others].map((size) => refusalOf(() => choose(size)));
  expect(refusals.filter(({ code, param }) => code !== 'invalid_size' || param !== 'size')).toEqual([]);
  const missing = refusals.filter(({ message }) => listed.some(({ size }) => !message.includes(size)));
  expect(missing).toEqual([]);
  expect(refusals.filter(({ message }) => message.length > 1_000)).toEqual([]);
});
