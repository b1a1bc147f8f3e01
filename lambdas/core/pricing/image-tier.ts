/** What a model that draws in steps of size draws where nothing is said. */
export const IMAGE_TIER_DEFAULT = '1K';
