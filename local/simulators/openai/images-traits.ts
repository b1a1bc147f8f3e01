import { openaiError } from './error.ts';
import type { Dimensions } from './images-files.ts';

const qualities = ['low', 'medium', 'high', 'xhigh', 'max', 'auto'] as const;
export type Quality = (typeof qualities)[number];

type Traits = { readonly qualities: readonly Quality[]; readonly freeSize: boolean };

const common = ['low', 'medium', 'high', 'auto'] as const;
const older: Traits = { qualities: common, freeSize: false };
const newer: Traits = { qualities: common, freeSize: true };
const widest: Traits = { qualities, freeSize: true };

/** Rules of the package openai 7.55.0 for `model`, `quality` and `size`. */
const traits: Readonly<Record<string, Traits>> = {
  'gpt-image-1-mini': older,
  'gpt-image-1.5': older,
  'chatgpt-image-latest': older,
  'gpt-image-2': newer,
  'gpt-image-2-2026-04-21': newer,
  'gpt-image-2.5-sunburst': widest,
  'gpt-image-2.5-sunburst-2026-09-08': widest,
  'gpt-image-2.5-flare': widest,
  'gpt-image-2.5-flare-2026-09-08': widest,
  'gpt-image-2.6-sunburst': newer,
  'gpt-image-2.6-flare': newer,
};

function traitsOf(model: string): Traits {
  refuseOther('model', model, Object.keys(traits));
  return traits[model] ?? older;
}

export function refuseOther(param: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  const names = new Intl.ListFormat('en').format(known.map((one) => `'${one}'`));
  const message = `Invalid value: '${value}'. Supported values are: ${names}.`;
  throw openaiError(400, message, { param, code: 'invalid_value' });
}

export function refuseQuality(model: string, value = 'auto'): Quality {
  const known = traitsOf(model).qualities;
  refuseOther('quality', value, known);
  return known.find((one) => one === value) ?? 'auto';
}

const square: Dimensions = { width: 1024, height: 1024 };
const edgeMax = 3840;
const pixels = { min: 655_360, max: 8_294_400 };

/** Returns the dimensions to draw in. If the provider chooses them (`auto`), they are a square. */
export function toDimensions(model: string, size = 'auto'): Dimensions {
  const { freeSize } = traitsOf(model);
  if (size === 'auto') return square;
  if (!freeSize) refuseOther('size', size, ['1024x1024', '1536x1024', '1024x1536', 'auto']);
  const [, width = 0, height = 0] = (/^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(size) ?? []).map(Number);
  const problem = problemOf({ width, height });
  if (problem === undefined) return { width, height };
  throw openaiError(400, `Invalid size '${size}'. ${problem}`, { param: 'size', code: 'invalid_value' });
}

/** Source of the second message: https://github.com/jezweb/claude-skills/pull/91 */
function problemOf({ width, height }: Dimensions): string | undefined {
  if (width * height === 0) return "Expected 'WIDTHxHEIGHT' or 'auto'.";
  if (width % 16 !== 0 || height % 16 !== 0) return 'Width and height must both be divisible by 16.';
  if (Math.max(width, height) > edgeMax) return `The longest edge must be at most ${edgeMax} pixels.`;
  if (Math.max(width, height) > 3 * Math.min(width, height)) return 'The aspect ratio must be between 1:3 and 3:1.';
  if (width * height > pixels.max) return `The image must have at most ${pixels.max} pixels.`;
  if (width * height < pixels.min) return `The image must have at least ${pixels.min} pixels.`;
  return undefined;
}
