import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { localeProse } from './token-corpus-locales.ts';
import { made } from './token-corpus-made.ts';
import { type Random, randomOf } from './token-random.ts';

export interface Sample {
  readonly kind: string;
  readonly text: string;
  /** Whether the rates were chosen without these samples. */
  readonly heldOut: boolean;
}

const CHARACTERS_MIN = 20;
const CHARACTERS_MAX = 20_000;
const FILE_BYTES_MAX = 400_000;
const FILES_MAX = 400;
const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Returns a random length. Short and long texts are equally likely. */
const lengthOf = (random: Random, most: number): number =>
  Math.floor(CHARACTERS_MIN * (most / CHARACTERS_MIN) ** random.fraction());

/** Cuts a random piece out of a random text. */
const cutFrom =
  (texts: readonly string[]) =>
  (random: Random, length: number): string => {
    const text = random.pick(texts);
    const start = random.below(Math.max(1, text.length - length));
    return text.slice(start, start + length);
  };

const installed = (): string[] =>
  readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('gpt-tokenizer'))
    .sort();

const read = (files: readonly string[]): string[] => {
  const step = Math.max(1, Math.floor(files.length / FILES_MAX));
  return files
    .filter((_, index) => index % step === 0)
    .map((file) => readFileSync(path.join(modules, file), 'utf8').slice(0, FILE_BYTES_MAX))
    .filter((text) => text.length > 2 * CHARACTERS_MIN);
};

/** Returns only paragraphs: no headings, lists, tables, code or links. */
const paragraphsOf = (markdown: string): string =>
  markdown
    .replace(/```[\s\S]*?```/g, '')
    .split(/\n\s*\n/)
    .filter((part) => /^[A-Z][^|`<[\]]{80,}$/.test(part.trim()))
    .join('\n\n');

type Source = (random: Random, length: number) => string;

const fileSources = (): Readonly<Record<string, Source>> => {
  const files = installed();
  const filesOf = (extension: string): string[] => files.filter((file) => file.endsWith(extension));
  const scripts = filesOf('.js').filter((file) => !file.endsWith('.min.js'));
  const markdown = read(filesOf('.md'));
  const licences = read(filesOf('LICENSE'));
  const javascript = read(scripts);
  const dense = javascript.filter((text) => text.length / text.split('\n').length > 300);
  const prose = [...markdown.map(paragraphsOf), ...licences].filter((text) => text.length > 400);
  return {
    'English prose': cutFrom(prose),
    'English in capitals': cutFrom(prose.map((text) => text.toUpperCase())),
    Markdown: cutFrom(markdown),
    JavaScript: cutFrom(javascript),
    'JavaScript, minified': cutFrom(dense),
    TypeScript: cutFrom(read(filesOf('.ts'))),
    'Source maps': cutFrom(read(filesOf('.js.map'))),
    'JSON files': cutFrom(read(filesOf('.json'))),
    'Lock file': cutFrom([readFileSync(fileURLToPath(new URL('../package-lock.json', import.meta.url)), 'utf8')]),
    'Python, YAML, HTML, shell, C++': cutFrom(
      ['.py', '.yml', '.yaml', '.html', '.sh', '.h', '.cc', '.css'].flatMap((end) => read(filesOf(end))),
    ),
  };
};

export interface CorpusOptions {
  readonly seed: number;
  readonly samplesPerKind: number;
  readonly charactersMax?: number;
}

/** Returns the samples. They depend only on the seed, Node and the installed packages. */
export const corpusOf = ({ seed, samplesPerKind, charactersMax = CHARACTERS_MAX }: CorpusOptions): Sample[] => {
  const sources = Object.entries({ ...fileSources(), ...localeProse(), ...made });
  return sources.flatMap(([kind, source], index) => {
    const random = randomOf(seed * 1_000 + index);
    return Array.from({ length: samplesPerKind }, (_, at) => ({
      kind,
      text: source(random, lengthOf(random, charactersMax)),
      heldOut: at % 2 === 1,
    }));
  });
};
