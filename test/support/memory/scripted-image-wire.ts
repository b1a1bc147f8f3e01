import type {
  Dimensions,
  Drawing,
  DrawnImage,
  ImageAsk,
  ImageCall,
  ImageWire,
} from '../../../lambdas/core/images/image-wire.ts';
import { pictureOf } from '../../../local/simulators/picture.ts';

/** What a vendor answers; `turn` counts the calls from 0. It may throw. */
export type ImageScript = (call: ImageCall, turn: number) => Drawing | Promise<Drawing>;

/** A vendor of images that does as it is told, and remembers what it was asked. */
export class ScriptedImageWire implements ImageWire {
  readonly calls: ImageCall[] = [];
  #script: ImageScript;
  readonly #refusal: Error | undefined;

  /** `refusal` is thrown before anything is held. */
  constructor(script: ImageScript = ({ n }) => drawingOf(pictures(n)), refusal?: Error) {
    this.#script = script;
    this.#refusal = refusal;
  }

  /** From now on. */
  say(script: ImageScript): void {
    this.#script = script;
  }

  check(_ask: ImageAsk): void {
    if (this.#refusal) throw this.#refusal;
  }

  async draw(call: ImageCall): Promise<Drawing> {
    const turn = this.calls.push(call) - 1;
    return this.#script(call, turn);
  }
}

export const SMALL: Dimensions = { width: 16, height: 16 };

/** Whole PNGs, no two alike. */
export const pictures = (count: number, size = SMALL): readonly DrawnImage[] =>
  Array.from({ length: count }, (_, index) => imageOf(pictureOf({ ...size, about: `picture ${index}` })));

export const imageOf = (bytes: Uint8Array): DrawnImage => ({ read: async () => bytes });

/** An image that cannot be had. */
export const lostImage = (failure: Error): DrawnImage => ({
  read: async () => {
    throw failure;
  },
});

export const drawingOf = (images: readonly DrawnImage[], told: Omit<Partial<Drawing>, 'images'> = {}): Drawing => ({
  images,
  usage: undefined,
  ...told,
});
