import type { Random } from './token-random.ts';

/** Creates a piece of generated text: a record, code or noise. Pieces are repeated up to the requested length. */
type Make = (random: Random) => string;

const repeat =
  (make: Make) =>
  (random: Random, length: number): string => {
    let text = '';
    while (text.length < length) text += make(random);
    return text.slice(0, length).toWellFormed();
  };

const times = (count: number, make: () => string): string => Array.from({ length: count }, make).join('');
const from = (alphabet: string, random: Random, count: number): string => {
  const letters = [...alphabet];
  return times(count, () => random.pick(letters));
};

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';
const marks = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const words = (
  'user account order invoice total price name address city country status created updated error warning request response ' +
  'server client token session value index item list message content type object string number result query table column ' +
  'the of and to in is that for with on as was by from not this which all were has their more one also can when there'
).split(' ');
const emoji = [...'😀😂❤️👍🙏🔥✨🎉😊😭🥺🤔👀💯🚀🌍🍕⚽🎵📈🐶🌸☕🏠🚗', '👨‍👩‍👧‍👦', '🇩🇪', '🇧🇷', '👍🏽', '🏳️‍🌈', '❤️‍🔥'];

const bytes = (random: Random, count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, () => random.below(256)));
const hex = (random: Random, count: number): string => bytes(random, count).toString('hex');
const uuid = (random: Random): string => hex(random, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const date = (random: Random): string => new Date(random.below(2 ** 31) * 1_000 + random.below(1_000)).toISOString();
const word = (random: Random): string => random.pick(words);
const identifier = (random: Random): string => {
  const parts = Array.from({ length: 1 + random.below(4) }, () => word(random));
  return random.pick([
    () => parts.join('_'),
    () => parts.map((part, index) => (index ? capital(part) : part)).join(''),
    () => parts.map(capital).join(''),
    () => parts.join('-'),
    () => parts.join('_').toUpperCase(),
  ])();
};
const url = (random: Random): string =>
  `https://${random.pick(['www.', 'api.', ''])}${word(random)}${word(random)}.${random.pick(['com', 'org', 'io', 'de'])}/` +
  `${identifier(random)}/${random.below(100_000)}?${word(random)}=${encodeURIComponent(from(`${lower}${digits} é/&`, random, 8))}&id=${hex(random, 6)}`;

const value = (random: Random, depth: number): unknown =>
  random.pick([
    () => random.below(100_000),
    () => random.fraction() * 1_000,
    () => random.below(2) === 0,
    () => null,
    () => uuid(random),
    () => date(random),
    () => `${word(random)} ${word(random)} ${word(random)}`,
    () => (depth > 0 ? record(random, depth - 1) : word(random)),
    () => (depth > 0 ? [value(random, depth - 1), value(random, depth - 1)] : 1),
  ])();
const record = (random: Random, depth: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: 2 + random.below(5) }, () => [identifier(random), value(random, depth)]));

const schema = (random: Random): unknown => ({
  name: identifier(random),
  description: `${capital(word(random))} ${word(random)} ${word(random)} ${word(random)}.`,
  parameters: {
    type: 'object',
    properties: { [identifier(random)]: { type: 'string', enum: [word(random), word(random)] } },
    required: [identifier(random)],
    additionalProperties: false,
  },
});

const escaped = (text: string): string =>
  text.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns a random assigned character from several Unicode ranges, or a space. */
const anyCharacter = (random: Random): string => {
  const code = random.below(random.pick([0x800, 0x3000, 0x10000, 0x20000]));
  const character = String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? 0x20 : code);
  return /\p{Assigned}/u.test(character) ? character : ' ';
};

const mixedWords =
  'hello мир 世界 שלום مرحبا नमस्ते 안녕 こんにちは γειά สวัสดี café naïve žluťoučký ağaç 😀 → € ≤ ½ № …'.split(' ');

export const made: Readonly<Record<string, (random: Random, length: number) => string>> = {
  'JSON, compact': repeat((random) => `${JSON.stringify(record(random, 3))}\n`),
  'JSON, indented': repeat((random) => JSON.stringify(record(random, 4), null, random.pick([2, 4, '\t']))),
  'JSON, escaped Unicode': repeat((random) =>
    escaped(JSON.stringify({ [word(random)]: mixedWords.slice(random.below(9)) })),
  ),
  'JSON within JSON': repeat((random) => JSON.stringify(JSON.stringify(record(random, 2)))),
  'Tool schemas': repeat((random) => JSON.stringify(schema(random))),
  Base64: repeat((random) => bytes(random, 600).toString('base64')),
  Hex: repeat((random) => hex(random, 64)),
  'Ids and keys': repeat(
    (random) =>
      `${random.pick([uuid(random), `sk-${from(lower + upper + digits, random, 40)}`, from(upper + digits, random, 26), hex(random, 20)])}\n`,
  ),
  URLs: repeat((random) => `${url(random)} `),
  Identifiers: repeat((random) => `${identifier(random)}${random.pick([' ', '.', '(', ', '])}`),
  'CSV of numbers': repeat(
    (random) =>
      `${random.below(10_000)},${random.fraction().toFixed(4)},${date(random)},${word(random)},-${random.below(99)}.5\n`,
  ),
  'Digits alone': repeat((random) => from(digits, random, 200)),
  Logs: repeat(
    (random) =>
      `${date(random)} ${random.pick(['INFO', 'WARN', 'ERROR', 'DEBUG'])} [${word(random)}-${random.below(16)}] ` +
      `${identifier(random)}: ${word(random)} ${word(random)}=${random.below(10_000)}ms ip=10.${random.below(256)}.${random.below(256)}.7 id=${hex(random, 8)}\n`,
  ),
  SQL: repeat(
    (random) =>
      `SELECT ${identifier(random)}, COUNT(*) FROM ${identifier(random)} WHERE ${identifier(random)} >= ${random.below(999)} ORDER BY 1;\n`,
  ),
  'XML and HTML': repeat(
    (random) =>
      `<${word(random)} ${word(random)}="${identifier(random)}">${word(random)} ${word(random)}</${word(random)}>\n`,
  ),
  'Tables of Markdown': repeat(
    (random) =>
      `| ${word(random)} | ${random.below(1_000)} | ${'-'.repeat(random.below(20))} |${' '.repeat(random.below(9))}\n`,
  ),
  'White space': repeat((random) =>
    random.pick([
      ' '.repeat(1 + random.below(60)),
      '\n'.repeat(1 + random.below(4)),
      '\t'.repeat(1 + random.below(9)),
      `${word(random)} `,
      '\r\n',
    ]),
  ),
  Lines: repeat(
    (random) => `${random.pick([...'-=*#_~.']).repeat(1 + random.below(80))}${random.pick(['\n', ' ', word(random)])}`,
  ),
  Emoji: repeat((random) => random.pick(emoji)),
  'Chat with emoji': repeat(
    (random) =>
      `${word(random)} ${word(random)} ${word(random)} ${random.pick(emoji)}${random.pick(['', '!!', ' lol', '...'])} `,
  ),
  'Mixed scripts': repeat((random) => `${random.pick(mixedWords)}${random.pick([' ', ' ', ', ', ''])}`),
  'Random lower case': (random, length) =>
    repeat(() => `${from(lower, random, 1 + random.below(12))} `)(random, length),
  'Random letters': (random, length) =>
    repeat(() => `${from(lower + upper, random, 1 + random.below(40))}${random.pick([' ', '', '_'])}`)(
      random,
      Math.min(length, 5_000),
    ),
  'Random ASCII': repeat((random) => from(`${lower}${upper}${digits}${marks}${marks} \n`, random, 100)),
  'Random marks': repeat((random) => from(`${marks} `, random, 50)),
  'Random Unicode': repeat(anyCharacter),
};
