import type { ChosenSize, ImageTier } from './choose-size.ts';

const nominalEdges: Readonly<Record<ImageTier, number>> = { '1K': 1_024, '1.5K': 1_536, '2K': 2_048, '4K': 4_096 };

/** The most pixels an image of that size has; a named step is a square of its edge, whatever its ratio. */
export const pixelsOf = (size: ChosenSize): number => {
  switch (size.kind) {
    case 'pixels':
      return size.width * size.height;
    case 'tier':
      return nominalEdges[size.tier] ** 2;
    case 'vendor':
      return size.pixelsMax;
  }
};
