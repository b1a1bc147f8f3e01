type Category = { readonly name: string; readonly images: boolean; readonly words: RegExp };

/**
 * https://developers.openai.com/api/docs/guides/moderation: all thirteen categories, and whether they apply to images.
 */
const categories: readonly Category[] = [
  { name: 'harassment', images: false, words: /\bi hate\b|\bidiots?\b|\bstupid\b/i },
  { name: 'harassment/threatening', images: false, words: /\bi will (kill|hurt) you\b/i },
  { name: 'hate', images: false, words: /\bi hate\b/i },
  { name: 'hate/threatening', images: false, words: /\bkill (all|them all)\b/i },
  { name: 'illicit', images: false, words: /\bshoplift|\bbombs?\b/i },
  { name: 'illicit/violent', images: false, words: /\bbombs?\b/i },
  { name: 'self-harm', images: true, words: /\bkill myself\b|\bself-harm\b/i },
  { name: 'self-harm/intent', images: true, words: /\bkill myself\b/i },
  { name: 'self-harm/instructions', images: true, words: /\bhow to self-harm\b/i },
  { name: 'sexual', images: true, words: /\bporn|\bsexual\b/i },
  { name: 'sexual/minors', images: false, words: /\bsexual minors\b/i },
  { name: 'violence', images: true, words: /\bkill|\bmurder|\bviolen/i },
  { name: 'violence/graphic', images: true, words: /\bgore\b|\bgraphic violence\b/i },
];

const flaggedScore = 0.98;
const innocentScore = 0.000_1;

/** Judges all inputs together: simple words in a text or an image URL are flagged. */
export function toVerdict(texts: readonly string[], images: readonly string[]) {
  const verdicts = categories.map((category) => toCategoryVerdict(category, texts, images));
  return {
    flagged: verdicts.some(({ flagged }) => flagged),
    categories: Object.fromEntries(verdicts.map(({ name, flagged }) => [name, flagged])),
    category_scores: Object.fromEntries(
      verdicts.map(({ name, flagged }) => [name, flagged ? flaggedScore : innocentScore]),
    ),
    category_applied_input_types: Object.fromEntries(verdicts.map(({ name, applied }) => [name, applied])),
  };
}

function toCategoryVerdict(
  { name, images: judgesImages, words }: Category,
  texts: readonly string[],
  images: readonly string[],
) {
  const judged = judgesImages ? [...texts, ...images] : texts;
  const applied = [...(texts.length > 0 ? ['text'] : []), ...(judgesImages && images.length > 0 ? ['image'] : [])];
  return { name, applied, flagged: judged.some((text) => words.test(text)) };
}
