import { priceSeconds } from '../audio/transcription-price.ts';
import type { Model, VideoModel } from '../catalog/schema.ts';
import { imageExamples } from '../images/image-examples.ts';
import { priceVideo } from '../videos/video-price.ts';

/** Price of a typical request. Null: the member does not apply, or the request does not have it. */
export interface PriceExample {
  readonly size: string | null;
  readonly quality: string | null;
  /** Length of the clip, the speech or the recording, in seconds. */
  readonly seconds: number | null;
  /** Characters of the text, for speech. */
  readonly characters?: number;
  readonly picos: bigint;
}

/** Length of the examples of speech and transcription, in seconds. */
const SPOKEN_SECONDS = 60;

/** Mean pace of English speech: 150 words of six characters a minute. */
const CHARACTERS_PER_SECOND = 15;

/** Mean length of a token of English text, in characters. */
const CHARACTERS_PER_TOKEN = 4;

const SPOKEN_CHARACTERS = SPOKEN_SECONDS * CHARACTERS_PER_SECOND;

/**
 * Returns examples at the prices of one row of the model: one image, one clip, or one minute of speech. Empty for models
 * whose requests have no typical size.
 */
export const priceExamples = (model: Model, row: Model['prices'][number]): readonly PriceExample[] => {
  switch (model.kind) {
    case 'image':
      return imageExamples(model, rowOf(model, row)).map((example) => ({ ...example, seconds: null }));
    case 'video':
      return clips(model, rowOf(model, row));
    case 'speech': {
      const picos = BigInt(SPOKEN_CHARACTERS) * rowOf(model, row).rates.input;
      return [{ ...spoken, characters: SPOKEN_CHARACTERS, picos }];
    }
    case 'transcription': {
      const words = Math.ceil(SPOKEN_CHARACTERS / CHARACTERS_PER_TOKEN);
      const picos = priceSeconds(rowOf(model, row), model, { seconds: SPOKEN_SECONDS, outputTokens: words });
      return picos === undefined ? [] : [{ ...spoken, picos }];
    }
    default:
      return [];
  }
};

const spoken = { size: null, quality: null, seconds: SPOKEN_SECONDS } as const;

/** Returns the row with the type of the model's rows. Throws a RangeError for a row of another model. */
const rowOf = <Sold extends Model>(model: Sold, row: Model['prices'][number]): Sold['prices'][number] => {
  const prices: Sold['prices'] = model.prices;
  const own: Sold['prices'][number] | undefined = prices.find((each) => each === row);
  if (own) return own;
  throw new RangeError(`the row is not a price of "${model.id}"`);
};

const clips = (model: VideoModel, row: VideoModel['prices'][number]): readonly PriceExample[] =>
  model.video.sizes.flatMap((size) => {
    const [width = 0, height = 0] = size.split('x').map(Number);
    return model.video.seconds.map(Number).map((seconds) => ({
      size,
      quality: null,
      seconds,
      picos: priceVideo(row, model, { seconds, width, height }).holdPicos,
    }));
  });
