/**
 * Features of the simulated models that draw. Sources of the pixel limits and of the steps, which are sizes by name:
 * https://docs.siraya.ai/docs/api-reference/generative-model-api/Seedream/,
 * https://novita.ai/docs/api-reference/model-apis-seedream-4.5 and
 * https://docs.laozhang.ai/en/api-capabilities/seedream-5-5.md.
 */
export type ImageModelFacts = {
  readonly pixelsMin: number;
  readonly pixelsMax: number;
  readonly steps: Readonly<Record<string, number>>;
  readonly imagesMax: number;
  /** Fields of the API that this model rejects with any value. */
  readonly refuses: readonly string[];
};

const refusedByAll = ['seed', 'guidance_scale', 'n'];
const older = { imagesMax: 14, refuses: [...refusedByAll, 'output_format'] };

const models: Readonly<Record<string, ImageModelFacts>> = {
  'seedream-4-0-250828': {
    ...older,
    pixelsMin: 1280 * 720,
    pixelsMax: 4096 * 4096,
    steps: { '1K': 1024, '2K': 2048, '4K': 4096 },
  },
  'seedream-4-5-251128': {
    ...older,
    pixelsMin: 2560 * 1440,
    pixelsMax: 4096 * 4096,
    steps: { '2K': 2048, '4K': 4096 },
  },
  'seedream-5-0-lite-260128': {
    imagesMax: 14,
    refuses: refusedByAll,
    pixelsMin: 2560 * 1440,
    pixelsMax: 4096 * 4096,
    steps: { '2K': 2048, '3K': 3072, '4K': 4096 },
  },
  'seedream-5-5-261028': {
    imagesMax: 10,
    refuses: [...refusedByAll, 'sequential_image_generation', 'sequential_image_generation_options', 'stream'],
    pixelsMin: 1280 * 720,
    // The maximum area is that of a square whose edge is 5% longer than the edge of the largest step.
    pixelsMax: 4_624_220,
    steps: { '1K': 1024, '1.5K': 1536, '2K': 2048 },
  },
};

export const defaultStep = '2K';
/** Ratio of the longer edge to the shorter. */
export const ratioMax = 16;

export function imageFactsOf(model: string): ImageModelFacts | undefined {
  return models[model];
}

/** Returns the tokens that the provider reports for an image: one per 256 pixels. */
export function imageTokensOf({ width, height }: { readonly width: number; readonly height: number }): number {
  return Math.floor((width * height) / 256);
}
