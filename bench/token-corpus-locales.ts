import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ownSentences } from './token-corpus-sentences.ts';
import type { Random } from './token-random.ts';

/**
 * Locales by script. For each, Node has names of places, languages and currencies, and formats for dates, durations and
 * lists.
 */
const locales = {
  'Western European': 'de fr es it pt nl sv da nb nn ca gl eu is fo lb rm fy gd ga cy br oc ast',
  'Central European': 'pl cs sk sl hr bs hu ro lt lv et fi sq tr az uz tk mt kl sr-Latn eo se',
  'African and Asian, Latin script': 'id ms jv su fil sw zu xh so yo ha ig sn rw om mg lg ki ln st tn wo ff mi to qu',
  Vietnamese: 'vi',
  Cyrillic: 'ru uk be bg sr mk kk ky mn tg tt uz-Cyrl ce sah',
  Greek: 'el',
  Hebrew: 'he yi',
  Arabic: 'ar ar-EG fa ur ps ckb sd ug ks',
  Devanagari: 'hi mr ne sa kok mai',
  'Bengali and Assamese': 'bn as',
  'Other Indic': 'ta te kn ml gu pa or si',
  'Thai, Lao, Khmer, Burmese': 'th lo km my',
  'Armenian and Georgian': 'hy ka',
  'Amharic, Tibetan, Cherokee and others': 'am ti bo dz chr ii mni sat nqo zgh',
  Korean: 'ko',
  Japanese: 'ja',
  'Chinese, simplified': 'zh-Hans',
  'Chinese, traditional': 'zh-Hant zh-Hant-HK',
} as const;

const range = (from: string, to: string): string[] => {
  const letters = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const [a = 0, z = 0] = [from.charCodeAt(0), to.charCodeAt(0)];
  return letters(a, z).flatMap((one) => letters(a, z).map((two) => String.fromCharCode(one, two)));
};

/** Returns every name in the locale. `fallback: 'none'` leaves out missing names. */
const namesIn = (locale: string): string[] => {
  const named = (type: Intl.DisplayNamesType, codes: readonly string[]): string[] => {
    const names = new Intl.DisplayNames(locale, { type, fallback: 'none' });
    return codes.flatMap((code) => names.of(code) ?? []);
  };
  return [
    ...named('region', range('A', 'Z')),
    ...named('language', range('a', 'z')),
    ...named('currency', Intl.supportedValuesOf('currency')),
    ...named('dateTimeField', ['era', 'year', 'quarter', 'month', 'day', 'weekday', 'hour', 'minute', 'second']),
  ];
};

const units = ['day', 'hour', 'kilometer', 'liter', 'degree', 'percent', 'gigabyte', 'mile-per-hour', 'kilogram'];
const spans = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second', 'quarter'] as const;

/** Returns random phrases in the locale's formats: dates, relative times, measurements and numbers. */
const phraseOf = (locale: string) => {
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const long = units.map((unit) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }));
  const words = new Intl.NumberFormat(locale, { notation: 'compact', compactDisplay: 'long' });
  return (random: Random): string =>
    random.pick([
      () => dates.format(new Date(random.below(2 ** 31) * 1_000)),
      () => relative.format(random.below(20) - 10, random.pick(spans)),
      () => random.pick(long).format(random.below(1_000)),
      () => words.format(random.below(10 ** 9)),
    ])();
};

/** Returns the validation library's messages in a language: whole sentences by native speakers. */
const messagesIn = (locale: string): string[] => {
  const [language = '', script] = locale.split('-');
  const name = language === 'zh' ? (script === 'Hant' ? 'zh-TW' : 'zh-CN') : language;
  try {
    const url = import.meta.resolve(`zod/v4/locales/${name}.js`);
    const messages = readFileSync(fileURLToPath(url), 'utf8').matchAll(/(["`])((?:(?!\1)[^\n])+)\1/g);
    return [...messages]
      .map(([, , text = '']) => text.replace(/\$\{[^}]*\}/g, '12'))
      .filter((text) => /\p{L}{2}.* .*\p{L}/u.test(text) && !/[{}=;]|^[,:]/.test(text));
  } catch {
    return [];
  }
};

interface Language {
  readonly names: readonly string[];
  readonly sentences: readonly string[];
  readonly phrase: (random: Random) => string;
  readonly list: Intl.ListFormat;
}

const languageOf = (locale: string): Language => ({
  names: namesIn(locale),
  sentences: [...messagesIn(locale), ...(ownSentences[locale] ?? [])],
  phrase: phraseOf(locale),
  list: new Intl.ListFormat(locale, { style: 'long' }),
});

const sentenceIn = ({ names, sentences, phrase, list }: Language, random: Random): string => {
  const kind = random.fraction();
  if (kind < 0.6 && sentences.length > 0) return random.pick(sentences);
  if (kind < 0.8) return phrase(random);
  if (names.length === 0) return phrase(random);
  const some = Array.from({ length: 1 + random.below(4) }, () => random.pick(names));
  return list.format(some);
};

/** Returns functions by script. Each creates text in one of the script's languages, cut to the length. */
export const localeProse = (): Record<string, (random: Random, length: number) => string> =>
  Object.fromEntries(
    Object.entries(locales).map(([kind, names]) => {
      const languages = Intl.DisplayNames.supportedLocalesOf(names.split(' ')).map(languageOf);
      const unspaced = /^(Japanese|Chinese|Thai)/.test(kind);
      const [stop, gap] = kind.startsWith('Chinese') || kind === 'Japanese' ? ['。', ''] : ['.', unspaced ? '' : ' '];
      return [
        kind,
        (random: Random, length: number) => {
          const language = random.pick(languages);
          let text = '';
          while (text.length < length) text += sentenceIn(language, random) + stop + gap;
          return text.slice(0, length).toWellFormed();
        },
      ];
    }),
  );
