import type {
  Dimensions,
  Drawing,
  DrawnImage,
  ImageAsk,
  ImageCall,
  ImageWire,
} from '../../../lambdas/core/images/image-wire.ts';
import { pictureOf } from '../../../local/simulators/picture.ts';

/** Returns the provider's result. `turn` counts the calls from 0. May throw. */
export type ImageScript = (call: ImageCall, turn: number) => Drawing | Promise<Drawing>;

/** Image provider that follows a script and records its calls. */
export class ScriptedImageWire implements ImageWire {
  readonly calls: ImageCall[] = [];
  #script: ImageScript;
  readonly #refusal: Error | undefined;

  /** `refusal` is thrown by `check`, before a hold is placed. */
  constructor(script: ImageScript = ({ n }) => drawingOf(pictures(n)), refusal?: Error) {
    this.#script = script;
    this.#refusal = refusal;
  }

  /** Replaces the script for later calls. */
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

/** Returns complete PNG images that all differ. */
export const pictures = (count: number, size = SMALL): readonly DrawnImage[] =>
  Array.from({ length: count }, (_, index) => imageOf(pictureOf({ ...size, about: `picture ${index}` })));

export const imageOf = (bytes: Uint8Array): DrawnImage => ({ read: async () => bytes });

/** Returns an image whose download fails. */
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
