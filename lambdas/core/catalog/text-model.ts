import type { ImageModel, Model, TextModel } from './schema.ts';

const seen = new WeakMap<ImageModel, TextModel>();

/** Returns the model as text protocols use it: a text model, or an image model with a text protocol (CHAT-12). */
export const textModelOf = (model: Model): TextModel | undefined => {
  if (model.kind === 'text') return model;
  if (model.kind !== 'image' || !model.text) return undefined;
  const known = seen.get(model);
  if (known) return known;
  const built = toTextModel(model, model.text);
  seen.set(model, built);
  return built;
};

const toTextModel = (
  { capabilities: _image, image, text: _text, protocols, prices, ...entry }: ImageModel,
  { limits, streaming, seed, sampling, imageTokensMax }: NonNullable<ImageModel['text']>,
): TextModel => ({
  ...entry,
  kind: 'text',
  protocols: protocols.filter((name) => name === 'chat_completions' || name === 'generate_content'),
  capabilities: {
    tools: false,
    parallelTools: false,
    forcedToolChoice: false,
    vision: entry.inputTypes.includes('image'),
    videoInput: false,
    jsonObject: false,
    jsonSchema: false,
    streaming,
    seed,
    multipleChoices: false,
    sampling,
    penalties: false,
    stop: false,
    logprobs: false,
    promptCache: 'none',
  },
  limits,
  reasoning: null,
  imageTokensMax,
  imageTiers: tiersOf(image.size),
  videoLinkHosts: [],
  prices: prices.flatMap((row) => {
    if (row.unit !== '1M_tokens') return [];
    const { textInput: input, textOutput, imageOutput } = row.rates;
    const { unit, from, until, note, imageTokensByTier } = row;
    const rates = { input, output: textOutput ?? imageOutput, imageOutput };
    return [{ unit, from, until, note, rates, tiers: [], imageTokensByTier }];
  }),
});

const tiersOf = (size: ImageModel['image']['size']): readonly string[] => {
  if (size.mode === 'forbidden') return [size.actual];
  return size.mode === 'tiers' ? size.tiers : [];
};
