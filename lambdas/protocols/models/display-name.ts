const abbreviations: ReadonlySet<string> = new Set(['gpt', 'tts']);

const capital = (word: string): string =>
  abbreviations.has(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);

/** For lists that have to name a model in words, which the catalog does not: `claude-opus-5-5` is "Claude Opus 5.5". */
export const displayNameOf = (id: string): string =>
  id
    .replace(/(?<=-\d{1,2})-(?=\d{1,2}(?:-|$))/g, '.')
    .split('-')
    .map(capital)
    .join(' ');
