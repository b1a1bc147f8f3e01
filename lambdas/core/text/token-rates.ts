/**
 * Cost of characters in hundredths of a token. The values are those of o200k_base plus a margin;
 * `bench/token-estimate.ts` measures them (docs/internals/token-estimate.md).
 */

/** Cost of a text in addition to its characters. */
export const TEXT = 150;

/**
 * Likelihood that a word splits into two tokens between two letters, from 0 (rarely) to 3 (mostly). One row per first
 * letter, one position per second letter. It separates prose from codes in any language.
 */
export const letterPairs = [
  '30003001200000303000100100', // a
  '12331333313033333133233303',
  '13030330130033033020233312',
  '12300333233333233133133333',
  '21002113331000221000322023', // e
  '13331033133232033031233223',
  '33330331333332333223333323',
  '13330333133333133230233333',
  '10000002300000003000303130', // i
  '23330333333333233313233333',
  '23330321333323333322332333',
  '23310333133033133310133313',
  '20330333133231113303333313',
  '13100201233332133300123323',
  '30003003130000203000000113', // o
  '13310331233033013000233213',
  '33333333333233331333033333',
  '23210323133221033010213303',
  '13230331131333113300133323',
  '13330330133333013011133303',
  '30100112131000303000333122', // u
  '13330333133333033333333333',
  '13332330133331333313330333',
  '33333333333333313331333233',
  '33333333333312303312333333',
  '33332333333333333333333311',
] as const;

/** Cost of a letter after a small letter and after a capital, by the level of the pair. */
export const afterSmall = [2, 10, 42, 98] as const;
export const afterCapital = [8, 20, 85, 100] as const;

/**
 * Number of letters in a row after which each further letter costs at least `IN_LONG_WORD`, because the length of a
 * token is limited.
 */
export const LONG_WORD = 8;
export const IN_LONG_WORD = 40;

/**
 * Cost of an ASCII character, by its kind and that of the preceding character. A space before a word is part of the word.
 */
export const ascii = {
  word: 100,
  wordAfterSpace: 122,
  capitalAfterSpace: 150,
  /** Many words and the mark before them are one token. */
  wordAfterMark: 65,
  digit: 100,
  /** Three digits are one token. */
  digitAfterDigit: 34,
  digitAfterSpace: 200,
  mark: 100,
  markAfterSpace: 125,
  markAfterMark: 85,
  /** The same mark twice. */
  markTwice: 50,
  spaceAfterSpace: 45,
  spaceApart: 100,
  line: 100,
  lineAfterMark: 50,
  lineAfterLine: 50,
  control: 100,
} as const;

/**
 * Cost of a character from the third equal character in a row, and from the seventeenth. Most marks appear in pairs at
 * most.
 */
export const repeated = {
  mark: { again: 55, long: 55 },
  /** `-`, `=` and other marks that form lines. */
  ruler: { again: 16, long: 10 },
  space: { again: 12, long: 4 },
  line: { again: 15, long: 10 },
} as const;

/**
 * Characters beyond ASCII, from each number up to the next: the cost after another character, and after one of the same
 * kind. A rare character costs one token per byte.
 */
export const scripts: readonly (readonly [from: number, first: number, next: number])[] = [
  [0x80, 250, 200],
  [0xc0, 110, 110], // Western European letters
  [0x100, 130, 150],
  [0x180, 300, 200],
  [0x370, 170, 55], // Greek
  [0x400, 125, 50], // Cyrillic
  [0x460, 300, 200],
  [0x530, 175, 50], // Armenian
  [0x590, 300, 200],
  [0x5d0, 115, 58], // Hebrew
  [0x600, 110, 52], // Arabic
  [0x64b, 300, 200],
  [0x660, 165, 165],
  [0x700, 300, 200],
  [0x800, 400, 300],
  [0x900, 200, 48], // Devanagari
  [0x980, 210, 55], // Bengali
  [0xa00, 210, 75], // Gurmukhi
  [0xa80, 200, 55], // Gujarati
  [0xb00, 300, 140], // Odia
  [0xb80, 220, 50], // Tamil
  [0xc00, 200, 55], // Telugu, Kannada
  [0xd00, 200, 60], // Malayalam
  [0xd80, 200, 80], // Sinhala
  [0xe00, 135, 58], // Thai
  [0xe80, 400, 240], // Lao
  [0xf00, 400, 230], // Tibetan
  [0x1000, 260, 85], // Burmese
  [0x10a0, 165, 50], // Georgian
  [0x1100, 400, 300],
  [0x1780, 240, 80], // Khmer
  [0x1800, 400, 300],
  [0x1ea0, 80, 150], // Vietnamese
  [0x1f00, 400, 300],
  [0x2000, 130, 110], // spaces, joiners
  [0x2010, 130, 70], // dashes, quotes, dots
  [0x2028, 150, 300],
  [0x2030, 400, 300],
  [0x2070, 320, 220], // arrows, signs, lines
  [0x27c0, 400, 300],
  [0x3000, 115, 150],
  [0x3040, 120, 50], // Hiragana
  [0x30a0, 120, 95], // Katakana
  [0x3100, 400, 300],
  [0x4e00, 180, 115], // Han
  [0xa000, 400, 300],
  [0xac00, 200, 90], // Hangul
  [0xd7a4, 400, 300],
  [0xd800, 380, 380], // The first half of a four-byte character
  [0xd83c, 110, 110], // The first half of an emoji
  [0xd83f, 380, 380],
  [0xdc00, 125, 125], // The second half
  [0xe000, 400, 300],
  [0xfe00, 110, 110], // variants of emoji
  [0xfe10, 400, 300],
  [0xff00, 120, 140], // wide marks
  [0xff21, 400, 300],
];
