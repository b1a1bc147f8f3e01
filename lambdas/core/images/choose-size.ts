import type { ImageModel } from '../catalog/schema.ts';
import { invalidRequest } from '../errors/gateway-error.ts';
import { chooseFree } from './size-free.ts';
import { AUTO_PIXELS_MAX, chooseByArea, chooseByTier, chooseListed, chooseStep, invalidSize } from './size-rules.ts';

type SizeRule = ImageModel['image']['size'];
export type ImageTier = '1K' | '1.5K' | '2K' | '4K';

/** What the client said about size, as it said it; absent is undefined. */
export interface SizeWish {
  readonly size: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly aspectRatio: string | undefined;
  /** A vendor that is told nothing follows the first reference. */
  readonly hasReferences: boolean;
}

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

/** IMG-2, IMG-9. Throws `invalid_size` with what is allowed and the nearest size, or the 400 of a field the model does not take. */
export const chooseSize = (model: ImageModel, wish: SizeWish): ChosenSize => {
  const rule = model.image.size;
  refuseOtherFields(model, wish);
  switch (rule.mode) {
    case 'free':
      return chooseFree(model, rule, wish);
    case 'enum':
      return chooseListed(model, rule, wish.size);
    case 'enum_by_tier':
      return chooseByTier(model, rule, wish.size);
    case 'tiers':
      return chooseStep(model, rule, wish.size);
    case 'ignored':
      return { kind: 'vendor', pixelsMax: AUTO_PIXELS_MAX };
    case 'forbidden':
      if (wish.size === undefined) return { kind: 'tier', tier: rule.actual, aspectRatio: undefined };
      throw invalidSize(model, { allowed: `left out: the size is always ${rule.actual}`, nearest: undefined });
    case 'pixels':
      return chooseByArea(model, rule, wish.size);
  }
};

/** Only models whose vendor has them take width, height and a ratio. */
const refuseOtherFields = ({ id, capabilities, image }: ImageModel, wish: SizeWish): void => {
  const advice = adviceOf(image.size);
  const refuse = (param: string) => invalidRequest(param, `${param}: not supported with "${id}". ${advice}`);
  if (wish.width !== undefined && !capabilities.widthHeight) throw refuse('width');
  if (wish.height !== undefined && !capabilities.widthHeight) throw refuse('height');
  if (wish.aspectRatio !== undefined && !capabilities.aspectRatio) throw refuse('aspect_ratio');
};

const adviceOf = ({ mode }: SizeRule): string => {
  if (mode === 'forbidden') return 'Leave it out: its images have one size.';
  return mode === 'ignored' ? 'Describe the size in the prompt.' : 'Use size.';
};
