import type { UsageRow } from './api-shapes.ts';
import type { Spoken } from './language.ts';

const inputs = [
  'input',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'image_input',
  'cached_image_input',
  'audio_input',
];
const outputs = ['output', 'reasoning', 'image_output'];

/** Returns the usage of a request in a few words: tokens in and out, or the units of its price. */
export const countsText = (usage: UsageRow['usage'], { texts: { counts }, count }: Spoken): string => {
  const sumOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + (usage?.[name] ?? 0), 0);
  const tell = (value: number, text: (shown: string) => string): string => (value > 0 ? text(count(value)) : '');
  const told = [
    tell(sumOf(inputs), counts.tokensIn),
    tell(sumOf(outputs), counts.tokensOut),
    tell(sumOf(['image']), counts.images),
    tell(sumOf(['first_megapixel']), counts.megapixels),
    tell(sumOf(['second']), counts.seconds),
    tell(sumOf(['character']), counts.characters),
  ];
  return told.filter((text) => text !== '').join(', ');
};
