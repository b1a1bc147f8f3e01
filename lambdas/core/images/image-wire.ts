import type { ImageModel, Provider, Upstream } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { ImageMediaType } from '../image-type.ts';
import type { JsonObject } from '../json.ts';
import type { TokenUsage } from '../pricing/charge.ts';

export type ImageQuality = ImageModel['capabilities']['quality'][number];

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

export type ImageTier = '1K' | '1.5K' | '2K' | '4K';

/** An image and the size that it must get. */
export interface FitTask {
  readonly bytes: Uint8Array;
  readonly mediaType: ImageMediaType;
  /** Actual size of the image. */
  readonly from: Dimensions;
  readonly to: Dimensions;
}

/**
 * Crops or resizes an image to exactly a size, in its format. Returns undefined if it cannot, such as for a corrupt
 * image, or once the signal aborts.
 */
export type FitImage = (task: FitTask, signal: AbortSignal) => Promise<Uint8Array | undefined>;

/** A size that the catalog entry of the model allows. */
export type ChosenSize =
  /**
   * `width` and `height` are sent to the provider. They differ from `asked` if the provider does not generate that size
   * (IMG-9).
   */
  | {
      readonly kind: 'pixels';
      readonly width: number;
      readonly height: number;
      /** Size as the client wrote it, `<width>x<height>`. */
      readonly asked: string;
      /** Tier of this size, if the catalog entry has tiers. */
      readonly tier: ImageTier | undefined;
    }
  /** A tier by name; `aspectRatio` such as `16:9` if a pixel size was mapped to it. */
  | { readonly kind: 'tier'; readonly tier: ImageTier; readonly aspectRatio: string | undefined }
  /** Size that the provider chooses, with at most this many pixels. */
  | { readonly kind: 'vendor'; readonly pixelsMax: number };

/** An image in the request, with checked content and known dimensions. */
export interface ImageFile extends Dimensions {
  readonly mediaType: ImageMediaType;
  readonly bytes: Uint8Array;
}

/** A reference image, in the client's order. The provider fetches a URL, so nothing about the image is known. */
export type ImageReference =
  | { readonly kind: 'file'; readonly file: ImageFile; readonly param: string }
  | { readonly kind: 'url'; readonly url: string; readonly param: string };

/** Parameters for the model, valid for its catalog entry (IMG-2 to IMG-5). */
export interface ImageAsk {
  readonly prompt: string;
  /** Number of images. */
  readonly n: number;
  readonly size: ChosenSize;
  /** Undefined if the model has no quality, or chooses it. */
  readonly quality: ImageQuality | undefined;
  readonly references: readonly ImageReference[];
  /** The model paints where the first reference image, or this mask, is transparent (IMG-5). */
  readonly mask: ImageFile | undefined;
  /** Mask that is not yet a file: one that must be fetched, or whose first image must be. */
  readonly remoteMask?: ImageReference | undefined;
  /** Additional fields of the catalog entry (`extraFields`): strings, numbers and booleans, as the client sent them. */
  readonly extras: JsonObject;
  readonly endUser: string | undefined;
}

export interface ImageCall extends ImageAsk {
  readonly model: ImageModel;
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Output tokens that the hold covers, for models that choose the number of tokens (BILL-6). */
  readonly outputTokensMax?: number | undefined;
  /** Aborted at the upstream's timeout. Its reason is the GatewayError for the client. */
  readonly signal: AbortSignal;
}

/** An image that the provider reports as made. */
export interface DrawnImage {
  /**
   * Returns its unchecked bytes, decoded or fetched from the provider's URL. Called once. Throws a GatewayError
   * (`upstream_error`, `content_filter`) if it cannot be read.
   */
  readonly read: () => Promise<Uint8Array>;
  /** Prompt as the provider changed it, if it reports the change. */
  readonly revisedPrompt?: string | undefined;
}

/** Result of the provider. It has at least one image; otherwise the wire throws the client's GatewayError. */
export interface Drawing {
  readonly images: readonly DrawnImage[];
  /** Tokens that the provider reported for all the images in the response, by modality. */
  readonly usage: TokenUsage | undefined;
  /** Billed thousandths of a megapixel, if the provider reports them. */
  readonly milliMegapixels?: { readonly output: number; readonly reference: number } | undefined;
}

/** Error for a call that the provider served without an image for the client, such as one that its filter blocked. */
export class ImagesWithheld extends GatewayError {
  /** The provider's counts; undefined if it reported none. */
  readonly usage: TokenUsage | undefined;

  /** Has the code and the message of `error`. */
  constructor({ code, message, upstreamFailed }: GatewayError, usage: TokenUsage | undefined) {
    super(code, message, { upstreamFailed, usesAllowance: true });
    this.usage = usage;
  }
}

/** Protocol of a provider. Makes exactly one paid call (GEN-5), and any number of free calls that read its state. */
export interface ImageWire {
  /** Throws the 400 for a request that the provider cannot serve, before money is held. Sends nothing. */
  check?(ask: ImageAsk, model: ImageModel): void;
  draw(call: ImageCall): Promise<Drawing>;
}
