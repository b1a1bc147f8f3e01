import { nested } from './hostile-json.ts';

/** Pieces of chat bodies as they stand on the wire. */
export const MODEL = '"model":"gpt-4.1-mini"';
export const USER = '{"role":"user","content":"hi"}';
export const MESSAGES = `"messages":[${USER}]`;
export const GOOD = `{${MODEL},${MESSAGES}}`;
export const having = (members: string): string => `{${MODEL},${MESSAGES},${members}}`;
export const said = (content: string): string => `{${MODEL},"messages":[{"role":"user","content":${content}}]}`;
export const parameters = (value: string): string =>
  having(`"tools":[{"type":"function","function":{"name":"f","parameters":${value}}}]`);

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const around = (hex: string): Buffer => Buffer.concat([Buffer.from('{"a":"'), bytes(hex), Buffer.from('"}')]);

/** Bodies that are no JSON object in UTF-8 of at most 64 levels (GEN-2). */
export const malformed: readonly (readonly [what: string, body: Uint8Array | string])[] = [
  ['nothing', ''],
  ['blanks', ' \r\n\t '],
  ['a word', 'hello'],
  ['a form', 'model=gpt-4.1-mini&messages=hi'],
  ['XML', '<?xml version="1.0"?><a/>'],
  ['cut off in a string', '{"model":"gpt'],
  ['cut off in an object', GOOD.slice(0, -1)],
  ['something behind the object', `${GOOD}{}`],
  ['a zero byte behind the object', `${GOOD}\0`],
  ['a trailing comma', '{"a":1,}'],
  ['single quotes', "{'a':1}"],
  ['a name without quotes', '{a:1}'],
  ['a comment', '{"a":1/* */}'],
  ['NaN', '{"a":NaN}'],
  ['Infinity', '{"a":-Infinity}'],
  ['a leading zero', '{"a":01}'],
  ['a leading plus', '{"a":+1}'],
  ['a hexadecimal number', '{"a":0x10}'],
  ['a line break in a string', '{"a":"\n"}'],
  ['a zero byte in a string', '{"a":"\0"}'],
  ['an unknown escape', '{"a":"\\x41"}'],
  ['a short escape', '{"a":"\\u12"}'],
  ['a no-break space between', '{"a":\u00a01}'],
  ['two byte order marks', `\ufeff\ufeff${GOOD}`],
  ['an open array a million deep', '['.repeat(1_000_000)],
  ['an open object a million deep', '{"a":'.repeat(1_000_000)],
  ['null', 'null'],
  ['a number', '1'],
  ['a string', '"{}"'],
  ['an array', `[${GOOD}]`],
  ['UTF-16, little end first', Buffer.from(`\ufeff${GOOD}`, 'utf16le')],
  ['UTF-16, big end first', Buffer.from(`\ufeff${GOOD}`, 'utf16le').swap16()],
  ['UTF-32', bytes('fffe00007b0000007d000000')],
  ['a lone continuation byte', around('80')],
  ['a cut sequence of two', around('c3')],
  ['a cut sequence of three', around('e282')],
  ['a cut sequence of four', around('f09f98')],
  ['a slash in two bytes', around('c0af')],
  ['a zero byte in two bytes', around('c080')],
  ['a slash in three bytes', around('e080af')],
  ['a slash in four bytes', around('f08080af')],
  ['half a surrogate pair', around('eda080')],
  ['a surrogate pair in six bytes', around('eda0bdedb880')],
  ['a code point beyond the last', around('f4908080')],
  ['a sequence of five', around('f888808080')],
  ['a sequence of six', around('fc8480808080')],
  ['FE and FF', around('feff')],
  ['Latin-1', Buffer.from('{"a":"\xe9t\xe9"}', 'latin1')],
  ['nothing but zero bytes', Buffer.alloc(1_024)],
  ['65 levels', `{"a":${nested(64)}}`],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['65 levels in a part that is free', parameters(`{"a":${nested(60)}}`)],
  ['a hundred thousand levels', `{"a":${nested(100_000)}}`],
];
