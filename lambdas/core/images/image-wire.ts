import type { ImageModel, Provider, Upstream } from '../catalog/schema.ts';
import type { ImageMediaType } from '../image-type.ts';
import type { JsonObject } from '../json.ts';
import type { TokenUsage } from '../pricing/charge.ts';

export type ImageQuality = ImageModel['capabilities']['quality'][number];

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

export type ImageTier = '1K' | '1.5K' | '2K' | '4K';

/** A size that the model's entry allows. */
export type ChosenSize =
  /** `width` and `height` go to the vendor; they differ from `asked` where it draws less (IMG-9). */
  | {
      readonly kind: 'pixels';
      readonly width: number;
      readonly height: number;
      /** As the client wrote it, `<width>x<height>`. */
      readonly asked: string;
      /** The step of size that this one counts as, where the entry has steps. */
      readonly tier: ImageTier | undefined;
    }
  /** A step by name; `aspectRatio` such as `16:9` where a pixel size was mapped to it. */
  | { readonly kind: 'tier'; readonly tier: ImageTier; readonly aspectRatio: string | undefined }
  /** The vendor's choice, never above this many pixels. */
  | { readonly kind: 'vendor'; readonly pixelsMax: number };

/** An image that came with the request, its content checked and its dimensions read. */
export interface ImageFile extends Dimensions {
  readonly mediaType: ImageMediaType;
  readonly bytes: Uint8Array;
}

/** An image to draw from, in the client's order. A URL is the vendor's to fetch; nothing about it is known. */
export type ImageReference =
  | { readonly kind: 'file'; readonly file: ImageFile; readonly param: string }
  | { readonly kind: 'url'; readonly url: string; readonly param: string };

/** Parameters for the model, valid for its catalog entry (IMG-2 to IMG-5). */
export interface ImageAsk {
  readonly prompt: string;
  /** How many images. */
  readonly n: number;
  readonly size: ChosenSize;
  /** Undefined where the model has none, or chooses. */
  readonly quality: ImageQuality | undefined;
  readonly references: readonly ImageReference[];
  /** Where the first reference is transparent, or this one is, the model paints (IMG-5). */
  readonly mask: ImageFile | undefined;
  /** Fields of the entry's own (`extraFields`): strings, numbers and booleans, as the client sent them. */
  readonly extras: JsonObject;
  readonly endUser: string | undefined;
}

export interface ImageCall extends ImageAsk {
  readonly model: ImageModel;
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Output tokens that the hold covers, for models that choose the number of tokens (BILL-6). */
  readonly outputTokensMax?: number | undefined;
  /** Aborted when the upstream's time is over. Its reason is the GatewayError to end with. */
  readonly signal: AbortSignal;
}

/** One image that the vendor says it has made. */
export interface DrawnImage {
  /**
   * Its bytes, unchecked: decoded, or fetched from where the vendor put it. Called once. Throws GatewayError (`upstream_error`,
   * `content_filter`) when they cannot be had.
   */
  readonly read: () => Promise<Uint8Array>;
  /** The prompt as the vendor changed it, if it says so. */
  readonly revisedPrompt?: string | undefined;
}

/** Result of the provider. It has at least one image; otherwise the wire throws the client's GatewayError. */
export interface Drawing {
  readonly images: readonly DrawnImage[];
  /** The vendor's own tokens, by modality; of all the images in the answer. */
  readonly usage: TokenUsage | undefined;
  /** Billed thousandths of a megapixel, if the provider reports them. */
  readonly milliMegapixels?: { readonly output: number; readonly reference: number } | undefined;
}

/** One vendor protocol. Makes exactly one paid call (GEN-5), and as many free ones as it takes to see it end. */
export interface ImageWire {
  /** Throws the 400 for what this vendor cannot do, before money is held. Nothing is sent. */
  check?(ask: ImageAsk, model: ImageModel): void;
  draw(call: ImageCall): Promise<Drawing>;
}
