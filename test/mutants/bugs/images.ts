import { bugsIn, type MoneyBug } from './money-bug.ts';

const deliverTests = 'test/lambdas/core/images/draw-images-deliver-images.test.ts';
const drawTests = 'test/lambdas/core/images/draw-images.test.ts';
const keyedTests = 'test/lambdas/core/images/draw-images-keyed.test.ts';
const priceTests = 'test/lambdas/core/images/image-price.test.ts';
const tokenTests = 'test/lambdas/core/images/image-price-image-token-price.test.ts';
const faultTests = 'test/lambdas/core/images/draw-images-store-faults.test.ts';
const answerTests = 'test/lambdas/core/pricing/text-price-image-answers.test.ts';
const recordTests = 'test/lambdas/core/ledger/audit-recorded-amount.test.ts';
const textTests = 'test/lambdas/core/text/generate-text-image-answers.test.ts';

const drawBugs = bugsIn('lambdas/core/images/draw-images.ts', drawTests, [
  {
    id: 'failed-images-charged',
    what: 'Every requested image is charged, even if it is not delivered.',
    find: 'delivered: images.length,',
    replace: 'delivered: drawing.images.length,',
  },
  {
    id: 'images-not-requested-charged',
    what: 'All images that a provider sends are charged, even if the client requested fewer.',
    find: 'drawing.images.slice(0, ask.n)',
    replace: 'drawing.images',
  },
  {
    id: 'images-above-the-budget',
    what: 'An image request can hold more than 100 USD.',
    find: 'refuseAboveBudget(money.holdPicos,',
    replace: 'refuseAboveBudget(0n,',
  },
  {
    id: 'images-repeated-without-a-key',
    what: 'A repeat with the same idempotency key creates and charges images again, because the response is not stored.',
    find: 'claimed: idempotent?.claimed',
    replace: 'claimed: undefined',
    caughtBy: keyedTests,
  },
  {
    id: 'images-charged-without-a-stored-answer',
    what: 'Images with an idempotency key are charged before their response is stored.',
    find: 'toStored: idempotent && ((costPicos) => idempotent.toStored(made, costPicos)),',
    replace: '',
    caughtBy: keyedTests,
  },
  {
    id: 'usage-of-images-reported-in-full',
    what: 'The response reports tokens of images that were neither delivered nor charged.',
    find: 'usage: drawing.usage && deliveredUsage(drawing.usage, counts)',
    replace: 'usage: deliveredUsage && counts && drawing.usage',
  },
]);

const deliverBugs = bugsIn('lambdas/core/images/draw-images.ts', deliverTests, [
  {
    id: 'link-charged-before-it-leads-anywhere',
    what: 'The gateway returns and charges a link whose image may not be stored.',
    find: 'const url = await retryUntilDefinite(deps.ledger, () =>',
    replace:
      "void linkImage(deps, 0, bytes, mediaType).catch(() => undefined);\n    const url = await retryUntilDefinite(deps.ledger, async () => 'https://media.example/media/lost' ||",
    caughtBy: faultTests,
  },
  {
    id: 'image-lost-at-the-first-trouble',
    what: 'One failure of the store discards an image that the provider has charged.',
    find: 'await retryUntilDefinite(deps.ledger, () =>',
    replace: 'await (retryUntilDefinite && ((call: () => Promise<string>) => call()))(() =>',
    caughtBy: faultTests,
  },
  {
    id: 'web-page-sold-as-an-image',
    what: 'Any bytes that a provider sends are charged as an image.',
    find: 'if (!dimensions) throw noImage();',
    replace:
      "if (!dimensions) return { content: { kind: 'base64', text: String(noImage) }, width: 1, height: 1, revisedPrompt };",
  },
]);

const priceBugs = bugsIn('lambdas/core/images/image-price.ts', priceTests, [
  {
    id: 'hold-of-one-image',
    what: 'A request for several images holds the price of one.',
    find: 'holdPicos: image * BigInt(ask.n) +',
    replace: 'holdPicos: image +',
  },
  {
    id: 'references-not-held',
    what: 'Reference images with a price are charged but not in the hold.',
    find: 'BigInt(ask.n) + inputImage * BigInt(references),',
    replace: 'BigInt(ask.n),',
  },
  {
    id: 'step-of-the-wrong-size',
    what: 'A size in pixels is sold at the price of the smallest tier.',
    find: "byTier[size.tier ?? '']",
    replace: "byTier[size.kind === 'tier' ? size.tier : '1K']",
  },
  {
    id: 'last-pixel-at-the-higher-price',
    what: 'The largest size of the lower price is charged at the higher price.',
    find: 'pixelsOf(size) <= maxPixels',
    replace: 'pixelsOf(size) < maxPixels',
  },
  {
    id: 'megapixels-rounded-down',
    what: 'A partial thousandth of a megapixel is free.',
    find: 'Math.ceil(pixels / (PIXELS_PER_MEGAPIXEL / 1_000))',
    replace: 'Math.floor(pixels / (PIXELS_PER_MEGAPIXEL / 1_000))',
  },
  {
    id: 'first-megapixel-charged-twice',
    what: 'The first megapixel is charged at its own price plus the price of a further one.',
    find: 'Math.max(0, output - images * 1_000)',
    replace: 'Math.max(0, output)',
  },
  {
    id: 'megapixels-of-lost-images-charged',
    what: 'Megapixels of images that were not delivered are charged.',
    find: 'deliveredShare(milliMegapixels.output, delivery)',
    replace: '(deliveredShare && milliMegapixels.output)',
  },
  {
    id: 'any-megapixels-charged',
    what: 'More megapixels than a reference image can have are charged.',
    find: 'Math.min(reference, referenceMax));',
    replace: 'reference);',
  },
]);

const tokenBugs = bugsIn('lambdas/core/images/image-price.ts', tokenTests, [
  {
    id: 'tokens-of-lost-images-charged',
    what: 'Tokens of images that were not delivered are charged.',
    find: 'usage && deliveredUsage(usage, delivery)',
    replace: 'delivery && deliveredUsage && usage',
  },
  {
    id: 'unknown-quality-held-for-nothing',
    what: 'A quality without an estimate is held as one token and charged as a few.',
    find: "if (picos === undefined) throw unpriced(model, quality === undefined ? 'size' : 'quality');\n  const tokens = Number(picos /",
    replace: 'const tokens = Number((picos ?? 0n) /',
  },
  {
    id: 'mask-not-held',
    what: 'A mask is sent and charged but not in the hold.',
    find: 'references.length + (mask ? 1 : 0)',
    replace: 'references.length + (mask ? 0 : 0)',
  },
  {
    id: 'area-not-held',
    what: 'The largest image holds the price of a 1024 x 1024 image.',
    find: 'Math.max(1, pixelsOf(size) / ESTIMATED_PIXELS)',
    replace: 'Math.max(1, ESTIMATED_PIXELS / pixelsOf(size))',
  },
  {
    id: 'image-tokens-without-bound',
    what: 'An implausible count of image tokens is charged in full.',
    find: 'costOf(within(answer, answerMax), prices)',
    replace: 'costOf(answer, prices)',
  },
]);

const answerBugs = [
  ...bugsIn('lambdas/core/pricing/text-price.ts', answerTests, [
    {
      id: 'image-in-an-answer-at-the-price-of-text',
      what: 'An image in a chat completion is charged at the text price.',
      find: '{ tokens: imageTokens, rate: imageRate(rates) },',
      replace: '{ tokens: imageTokens, rate: rates.output },',
    },
    {
      id: 'image-in-an-answer-not-held',
      what: 'The hold of a chat completion prices its image as text.',
      find: '* answerRate(rates)',
      replace: '* rates.output',
    },
  ]),
  ...bugsIn('lambdas/core/text/text-hold.ts', textTests, [
    {
      id: 'image-cut-at-the-cap',
      what: 'An image in a chat completion costs no more than the token cap of the request.',
      find: 'model.limits.outputTokensMax * choices : cap',
      replace: 'cap * choices : cap',
    },
  ]),
  ...bugsIn('lambdas/core/pricing/count-prices.ts', recordTests, [
    {
      id: 'images-in-answers-not-audited',
      what: 'The audit reports a charge for an image in a chat completion as wrong.',
      find: "'reasoning', 'imageOutput'",
      replace: "'reasoning'",
    },
  ]),
];

export const imageBugs: readonly MoneyBug[] = [...drawBugs, ...deliverBugs, ...priceBugs, ...tokenBugs, ...answerBugs];
