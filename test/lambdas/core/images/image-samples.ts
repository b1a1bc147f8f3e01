import { catalogData } from '../../../../catalog/index.ts';
import type { Catalog } from '../../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import type { DrawnCounts, ImageMoney } from '../../../../lambdas/core/images/image-price.ts';
import { priceImages } from '../../../../lambdas/core/images/image-price.ts';
import type { Dimensions, ImageAsk, ImageReference, ImageTier } from '../../../../lambdas/core/images/image-wire.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import type { Charge, TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import { image, load } from '../catalog/sample-data.ts';

type Json = Readonly<Record<string, unknown>>;

export const NOW = Date.UTC(2026, 10, 20);

export const shipped: Catalog = loadCatalog(catalogData);

export const shippedImages = (): readonly ImageModel[] =>
  shipped.entries.flatMap((model) => (model.kind === 'image' && model.enabled ? [model] : []));

/** Returns an image model of the shipped catalog. Throws for any other id. */
export const shippedImage = (id: string): ImageModel => {
  const model = shipped.find(id, NOW);
  if (model?.kind !== 'image') throw new Error(`${id} is not an image model`);
  return model;
};

/** Returns a loaded catalog entry with these changes. */
export const modelOf = (changes: Json): ImageModel => {
  const model = load([image(changes)]).find('paint-1', NOW);
  if (model?.kind !== 'image') throw new Error('not an image model');
  return model;
};

export const usage = (changes: Partial<TokenUsage> = {}): TokenUsage => ({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  ...changes,
});

export const inPixels = (width: number, height: number, tier?: ImageTier): ImageAsk['size'] => ({
  kind: 'pixels',
  width,
  height,
  asked: `${width}x${height}`,
  tier,
});

export const ask = (changes: Partial<ImageAsk> = {}): ImageAsk => ({
  prompt: 'a cat',
  n: 1,
  size: inPixels(1_024, 1_024),
  quality: undefined,
  references: [],
  mask: undefined,
  extras: {},
  endUser: undefined,
  ...changes,
});

export const byUrl = (count: number): readonly ImageReference[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'url', url: `https://example.com/${index}`, param: 'image' }));

export const byFile = (size: Dimensions): ImageReference => ({
  kind: 'file',
  file: { ...size, mediaType: 'image/png', bytes: new Uint8Array() },
  param: 'image',
});

/** Counts of one delivered image without reported usage or size. */
export const counts = (changes: Partial<DrawnCounts> = {}): DrawnCounts => ({
  delivered: 1,
  made: 1,
  usage: undefined,
  milliMegapixels: undefined,
  pixels: [1_024 * 1_024],
  ...changes,
});

export const priceOf = (model: ImageModel, changes: Partial<ImageAsk> = {}): ImageMoney => {
  const row = model.prices[0];
  if (!row) throw new Error('no price');
  return priceImages(row, model, ask(changes));
};

/** Returns the record of a charge. */
export const recordOf = ({ amountPicos, usage: used, prices, implausible }: Charge): ChargeRecord => ({
  accountId: 'account-1',
  holdId: 'request-1.0',
  requestId: 'request-1',
  outcome: 'settled',
  amountPicos,
  at: NOW,
  usage: used,
  prices,
  ...(implausible ? { implausible } : {}),
});
