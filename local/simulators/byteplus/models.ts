/**
 * Features of the simulated models: seconds and resolutions of https://docs.byteplus.com/en/docs/ModelArk/1520757,
 * pixels of https://apidoc.cometapi.com/api/video/seedance/create. 4k is left out, because its pixels are not
 * published.
 */
export type VideoModelFacts = {
  /** Name in its errors. */
  readonly name: string;
  readonly secondsMin: number;
  readonly secondsMax: number;
  readonly resolutions: readonly string[];
  /** Fields of the API that this model rejects. */
  readonly refuses: readonly string[];
};

const seedance2 = { secondsMin: 4, secondsMax: 15, refuses: ['frames', 'camera_fixed', 'draft'] };

const models: Readonly<Record<string, VideoModelFacts>> = {
  'dreamina-seedance-2-0-260128': {
    ...seedance2,
    name: 'dreamina-seedance-2-0',
    resolutions: ['480p', '720p', '1080p'],
  },
  'dreamina-seedance-2-0-fast-260128': {
    ...seedance2,
    name: 'dreamina-seedance-2-0-fast',
    resolutions: ['480p', '720p'],
  },
  'seedance-1-5-pro-251215': {
    name: 'seedance-1-5-pro',
    secondsMin: 4,
    secondsMax: 12,
    resolutions: ['480p', '720p', '1080p'],
    refuses: ['frames'],
  },
};

const sizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480p': {
    '16:9': '864x496',
    '4:3': '752x560',
    '1:1': '640x640',
    '3:4': '560x752',
    '9:16': '496x864',
    '21:9': '992x432',
  },
  '720p': {
    '16:9': '1280x720',
    '4:3': '1112x834',
    '1:1': '960x960',
    '3:4': '834x1112',
    '9:16': '720x1280',
    '21:9': '1470x630',
  },
  '1080p': {
    '16:9': '1920x1080',
    '4:3': '1664x1248',
    '1:1': '1440x1440',
    '3:4': '1248x1664',
    '9:16': '1080x1920',
    '21:9': '2206x946',
  },
};

export const framesPerSecond = 24;

export function factsOf(model: string): VideoModelFacts | undefined {
  return models[model];
}

export function sizeFor(resolution: string, ratio: string): string | undefined {
  return sizes[resolution]?.[ratio];
}

export function resolutionAndRatioOf(size: string): { readonly resolution: string; readonly ratio: string } {
  for (const [resolution, byRatio] of Object.entries(sizes)) {
    const ratio = Object.keys(byRatio).find((one) => byRatio[one] === size);
    if (ratio !== undefined) return { resolution, ratio };
  }
  throw new Error(`${size} is not a size of a simulated model`);
}

/**
 * Returns width times height times frames divided by 1,024, with one more frame at second 0. The results match the
 * provider's own examples: 108,900 tokens for 5 s at 1280x720, and 246,840 at 1920x1088 of the older models.
 */
export function tokensOf(size: string, seconds: number): number {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return Math.floor((width * height * (framesPerSecond * seconds + 1)) / 1024);
}
