export type Row = readonly [kind: string, title: string, context: string, text: string, url: string];

/** Results that are shown. */
const SHOWN_MAX = 20;
/** Weights of the title, the line below it and the text. */
const FIELD_WEIGHTS = [8, 4, 1] as const;
/** Factors of a whole word, the start of a word, by its share of the word, and another part of it. */
const WHOLE = 1;
const START = 0.4;
const PART = 0.1;
/** Factors of a part of a guide, and of the page of a guide. */
const GUIDE_FACTOR = 1.2;
const PAGE_FACTOR = 1.6;
/** Factor of a row whose title or path is the query. */
const EXACT_FACTOR = 3;

/** Words that a question has, and that say nothing about its subject. */
const stopWords = new Set(
  'a an and are at be by can do does for from get has have how i if in into is it its me my of on or our so that the their this to use was we what when where which who why will with you your'.split(
    ' ',
  ),
);

/** Removes the ending of a word, so that "streaming" and "streams" equal "stream". */
const stemOf = (word: string): string => {
  const stem = word.replace(/ies$/, 'y').replace(/(?<=..[^s])s$/, '');
  return stem.replace(/(?<=...)(?:ing|ed|e)$/, '');
};

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Words of a query without stop words. A query of stop words alone keeps them. */
export const queryWords = (query: string): readonly string[] => {
  const all = [...new Set(wordsOf(query))];
  const words = all.filter((word) => !stopWords.has(word));
  return words.length > 0 ? words : all;
};

/** Stems of the three fields, and the text of each. */
type Fields = readonly (readonly [stems: readonly string[], text: string])[];

const fieldsOfRow = ([, title, context, text]: Row): Fields =>
  [title, context, text].map((field) => [wordsOf(field).map(stemOf), field.toLowerCase()] as const);

const prepared = new WeakMap<readonly Row[], readonly Fields[]>();
/** Splits the rows of an index once. */
const fieldsOf = (rows: readonly Row[]): readonly Fields[] => {
  const known = prepared.get(rows) ?? rows.map(fieldsOfRow);
  prepared.set(rows, known);
  return known;
};

/** Returns how well a field has a word: 0 to 1. */
const qualityOf = ([stems, text]: Fields[number], word: string): number => {
  if (!text.includes(stemOf(word))) return 0;
  if (stems.includes(stemOf(word))) return WHOLE;
  const shortest = Math.min(...stems.filter((stem) => stem.startsWith(word)).map(({ length }) => length));
  if (Number.isFinite(shortest)) return (START * word.length) / shortest;
  return word.length > 2 && text.includes(word) ? PART : 0;
};

/** Returns the weight of a word in a row. In a short title a word weighs more. */
const weightOf = (fields: Fields, word: string): number => {
  const weights = fields.map((field, index) => {
    const share = index === 0 ? 0.5 + 0.5 / Math.max(1, field[0].length) : 1;
    return (FIELD_WEIGHTS[index] ?? 0) * share * qualityOf(field, word);
  });
  return Math.max(...weights) + 0.1 * weights.reduce((sum, weight) => sum + weight, 0);
};

const kindFactor = ([kind, , context]: Row): number => {
  if (kind === 'Route') return 1;
  return context === '' ? PAGE_FACTOR : GUIDE_FACTOR;
};

/** Whether the query is the title of a row, or the path of a route, with or without its method. */
const isExact = ([, title, context]: Row, query: string): boolean => {
  const phrase = wordsOf(query).join(' ');
  const path = wordsOf(context).join(' ');
  return wordsOf(title).join(' ') === phrase || path === phrase || path.replace(/^[a-z]+ /, '') === phrase;
};

/** Returns the best rows for a query: those that have most of its words, in their titles first. Rare words count more. */
export const findRows = (rows: readonly Row[], query: string): readonly Row[] => {
  const words = queryWords(query);
  const weights = fieldsOf(rows).map((fields) => words.map((word) => weightOf(fields, word)));
  const rarity = words.map((_, index) => {
    const having = weights.filter((row) => (row[index] ?? 0) > 0).length;
    return Math.log(1 + rows.length / (1 + having));
  });
  const scored = rows.map((row, at) => {
    const own = weights[at] ?? [];
    const total = own.reduce((sum, weight, index) => sum + weight * (rarity[index] ?? 0), 0);
    const found = own.filter((weight) => weight > 0).length;
    const exact = isExact(row, query) ? EXACT_FACTOR : 1;
    return { row, score: total * exact * kindFactor(row) * (found / Math.max(1, words.length)) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, SHOWN_MAX)
    .map(({ row }) => row);
};
