import { expect, test } from 'vitest';
import { parseJsonBody } from '../../../lambdas/http/read-body.ts';

const read = (text: string | Uint8Array) => parseJsonBody(typeof text === 'string' ? Buffer.from(text) : text);

const nested = (depth: number, open: string, close: string): string =>
  `{"a":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}`;

const malformed = { code: 'invalid_request_error', status: 400 };

test.for([
  '',
  ' \n',
  '{',
  '{"a":1',
  '{"a":1}}',
  "{'a':1}",
  '{"a":1,}',
  '{"a":NaN}',
  '{"a":01}',
  '{"a":"\n"}',
  '{"a":"\\u12"}',
  '[{}]',
  '"text"',
  '1',
  'null',
])('GEN-2 %j is 400', (text) => {
  expect(() => read(text)).toThrow(expect.objectContaining(malformed));
});

test.for([[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe6, 0x97]])(
  'GEN-2 the bytes %j are not UTF-8',
  (bytes) => {
    const text = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expect(() => read(text)).toThrow(
      expect.objectContaining({ ...malformed, message: expect.stringMatching(/UTF-8/) }),
    );
  },
);

test('GEN-2 all of Unicode is accepted, including escaped lone surrogates', () => {
  expect(read('{"日本":"🌍\\u0000","b":"\\ud800"}')).toEqual({ 日本: '🌍\u0000', b: '\ud800' });
});

test('GEN-2 a byte order mark is ignored', () => {
  expect(read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a":1}')]))).toEqual({ a: 1 });
});

for (const [name, open, close] of [
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
] as const) {
  test(`GEN-2 64 levels of ${name} are accepted, and 65 or a hundred thousand are 400`, () => {
    expect(() => read(nested(64, open, close))).not.toThrow();
    expect(() => read(nested(65, open, close))).toThrow(expect.objectContaining(malformed));
    expect(() => read(nested(100_000, open, close))).toThrow(expect.objectContaining(malformed));
  });
}

test('GEN-2 the largest numbers are accepted', () => {
  expect(read('{"a":1.7976931348623157e308,"b":5e-324,"c":-0}')).toEqual({ a: Number.MAX_VALUE, b: 5e-324, c: -0 });
});

test('GEN-2 members can have the names of built-in ones, such as constructor', () => {
  const body = read('{"constructor":1,"toString":{"hasOwnProperty":2}}');
  expect(body).toEqual({ constructor: 1, toString: { hasOwnProperty: 2 } });
});

test.for([
  ['{"__proto__":{"polluted":true}}', '__proto__'],
  ['{"a":[{"__proto__":1}]}', 'a[0].__proto__'],
] as const)('GEN-2 %s gets an error that names it and changes nothing', ([text, param]) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ ...malformed, param }));
  expect({}).not.toHaveProperty('polluted');
});

test('ERR-5 no message quotes the body', () => {
  for (const text of ['{"canary', 'canary', '["canary"]', '{"a":"canary"']) {
    expect(() => read(text)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('canary') }));
  }
});

test.for([
  ['{"a":1e400}', 'a'],
  ['{"a":-1e309}', 'a'],
  ['{"a":{"b":[0,{"c":1e400}]}}', 'a.b[1].c'],
  ['{"a":[[0,-1e400]]}', 'a[0][1]'],
] as const)('GEN-2, GEN-4 the number out of range in %s is 400 with param %s', ([text, param]) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({ ...malformed, param, message: expect.stringContaining(param) }),
  );
});
