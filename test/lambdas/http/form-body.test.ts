import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Form } from '../../../lambdas/http/exchange.ts';
import { isForm } from '../../../lambdas/http/form-body.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { BOUNDARY, formOf, handmade, named, parse, partOf, refusalOf } from './forms.ts';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Shows the bytes of files in hexadecimal. */
const plain = ({ fields, files }: Form) => ({
  fields: fields.map(({ name, value }) => [name, value]),
  files: files.map(({ field, fileName, mediaType, bytes }) => [field, fileName, mediaType, hexOf(bytes)]),
});

const image = (...bytes: readonly number[]): File =>
  new File([Uint8Array.from(bytes)], 'é 1.png', { type: 'image/png' });

test('VID-2 fields and files of a form arrive in order, including repeated ones', async () => {
  const sent = await formOf(
    ['prompt', 'a "cat"\nand 🐈'],
    ['image', image(1, 2)],
    ['model', 'm'],
    ['image', image(0, 13, 10, 45, 45)],
    ['prompt', ''],
    ['mask', image()],
  );
  expect(plain(parse(sent))).toEqual({
    fields: [
      ['prompt', 'a "cat"\r\nand 🐈'],
      ['model', 'm'],
      ['prompt', ''],
    ],
    files: [
      ['image', 'é 1.png', 'image/png', '0102'],
      ['image', 'é 1.png', 'image/png', '000d0a2d2d'],
      ['mask', 'é 1.png', 'image/png', ''],
    ],
  });
});

test('VID-2 the content of a form is read unchanged', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n]/g, '')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => image(...bytes)),
  );
  const name = fc.stringMatching(/^[a-z_[\]]{1,12}$/);
  const property = fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 8 }), async (entries) => {
    const { fields, files } = plain(parse(await formOf(...entries)));
    const texts = entries.filter(([, sent]) => typeof sent === 'string');
    expect(fields).toEqual(texts);
    const sentFiles = entries.flatMap(([field, sent]) => (typeof sent === 'string' ? [] : [{ field, sent }]));
    const expected = sentFiles.map(async ({ field, sent }) => [
      field,
      'é 1.png',
      'image/png',
      hexOf(new Uint8Array(await sent.arrayBuffer())),
    ]);
    expect(files).toEqual(await Promise.all(expected));
  });
  await fc.assert(property, randomRuns(import.meta.filename, { quick: 20, long: 200 }));
});

test.for([
  ['multipart/form-data; boundary=x', true],
  [' Multipart/Form-Data ;boundary="x"', true],
  ['multipart/form-data', true],
  ['multipart/form-datax; boundary=x', false],
  ['multipart/mixed; boundary=x', false],
  ['application/json', false],
  ['text/plain; x="multipart/form-data"', false],
  [undefined, false],
] as const)('GEN-12 %s is a form: %s', ([contentType, expected]) => {
  expect(isForm(contentType)).toBe(expected);
});

test.for([
  `multipart/form-data; boundary="${BOUNDARY}"`,
  `multipart/form-data; charset=utf-8; BOUNDARY=${BOUNDARY}`,
  `multipart/form-data; boundary=${BOUNDARY} ; charset=utf-8`,
  `multipart/form-data;boundary="${BOUNDARY}";charset=utf-8`,
])('VID-2 the boundary is found in %s', (contentType) => {
  const { bytes } = handmade(partOf(named('a'), '1'));
  expect(parse({ bytes, contentType }).fields).toEqual([{ name: 'a', value: '1' }]);
});

test('GEN-2 a form that is cut at any byte is 400, except after its end', async () => {
  const entries = [
    ['prompt', 'a cat'],
    ['image', image(1, 2, 3)],
    ['model', 'm'],
  ] as const;
  for (const sent of [await formOf(...entries), handmade(partOf(named('a'), '1'), partOf(named('b'), '2'))]) {
    const whole = sent.bytes.lastIndexOf('--') + 2;
    for (let end = 0; end < whole; end += 1) {
      const cut = { ...sent, bytes: sent.bytes.subarray(0, end) };
      expect(refusalOf(cut), `cut at ${end}`).toMatchObject({
        status: 400,
        code: 'invalid_request_error',
        param: null,
      });
    }
    for (let end = whole; end <= sent.bytes.length; end += 1) parse({ ...sent, bytes: sent.bytes.subarray(0, end) });
  }
});

test('GEN-2 a form with one byte lost or changed is read or 400, and never a 500', () => {
  const { bytes, contentType } = handmade(
    partOf(named('a'), '1'),
    partOf(`${named('b', '; filename="b.png"')}\r\nContent-Type: image/png`, '2'),
  );
  for (let at = 0; at < bytes.length; at += 1) {
    for (const changed of [[], [0], [0xff], [0x0a], [0x2d]]) {
      const broken = Buffer.concat([bytes.subarray(0, at), Buffer.from(changed), bytes.subarray(at + 1)]);
      try {
        parse({ bytes: broken, contentType });
      } catch (error) {
        expect(error).toMatchObject({ status: 400, code: 'invalid_request_error' });
      }
    }
  }
});

test.for([
  ['no content-disposition', partOf('Content-Type: text/plain', '1')],
  ['no name in it', partOf('Content-Disposition: form-data; filename="a.png"', '1')],
  ['an empty name', partOf(named(''), '1')],
  ['no head at all', Buffer.from(`--${BOUNDARY}\r\n\r\n1\r\n`)],
] as const)('GEN-2 a part with %s is 400, also before one with a name', ([, part]) => {
  for (const sent of [
    handmade(part),
    handmade(part, partOf(named('a'), '2')),
    handmade(partOf(named('a'), '2'), part),
  ]) {
    const refusal = refusalOf(sent);
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error', param: null });
    expect(refusal.message).toBe('A part of the form has no name. Name each one in content-disposition.');
  }
});

test.for([
  ['a line end', '\r\n'],
  ['text', 'This is a form.\r\n'],
  ['text that repeats the start of the boundary', `--the\r\nx--${BOUNDARY}y\r\n`],
] as const)('VID-2 %s before the first boundary is ignored', ([, text]) => {
  const { bytes, contentType } = handmade(partOf(named('a'), '1'), partOf(named('b', '; filename="b"'), '2'));
  const form = parse({ bytes: Buffer.concat([Buffer.from(text), bytes]), contentType });
  expect(plain(form)).toEqual({ fields: [['a', '1']], files: [['b', 'b', '', '32']] });
});

test.for([
  ['Latin-1', Buffer.from('caf\xe9.png', 'latin1'), 'caf\ufffd.png'],
  ['a quote', Buffer.from('my "best" cat.png'), 'my "best" cat.png'],
  ['a path of Windows', Buffer.from('C:\\cats\\a.png'), 'C:\\cats\\a.png'],
] as const)('VID-2 a file name in %s is read, with all parts after it', ([, name, expected]) => {
  const head = Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${named('a', '; filename="')}`),
    name,
    Buffer.from('"\r\nContent-Type: image/png\r\n\r\n'),
  ]);
  const file = (content: string) => Buffer.concat([head, Buffer.from(`${content}\r\n`)]);
  const form = parse(handmade(file('1'), file(''), partOf(named('b'), '2'), file('3')));
  expect(plain(form)).toEqual({
    fields: [['b', '2']],
    files: ['31', '', '33'].map((hex) => ['a', expected, 'image/png', hex]),
  });
});

test('GEN-2 text and names that are not UTF-8 are 400, and a byte order mark is text', () => {
  const latin1 = Buffer.from('caf\xe9', 'latin1');
  expect(refusalOf(handmade(partOf(named('a'), latin1))).message).toContain('not valid UTF-8');
  const head = Buffer.concat([Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="`), latin1]);
  expect(refusalOf(handmade(head, Buffer.from('"\r\n\r\n1\r\n'))).message).toContain('not valid UTF-8');
  expect(parse(handmade(partOf(named('a'), '\uFEFFx'))).fields).toEqual([{ name: 'a', value: '\uFEFFx' }]);
});

test.for([
  ['; filename="a;b.png"', 'a;b.png'],
  ['; filename=a.png', 'a.png'],
  ['; filename=""', ''],
  ['; FileName="a\\"b.png"', 'a"b.png'],
  [`; filename="a.png"; filename*=utf-8''b.png`, 'a.png'],
  [`; filename*=utf-8''b.png`, ''],
  [`; filename*=no-such-charset''b.png`, ''],
] as const)('VID-2 %s makes a file of the name "%s", and nothing is written to the log', ([more, expected]) => {
  const warn = vi.spyOn(console, 'warn');
  onTestFinished(() => warn.mockRestore());
  const { files } = parse(handmade(partOf(named('a', more), '1')));
  expect(files.map(({ field, fileName, mediaType }) => [field, fileName, mediaType])).toEqual([['a', expected, '']]);
  expect(warn).not.toHaveBeenCalled();
});

test('VID-2 parts are read unchanged, and an encoded part is 400', () => {
  for (const encoding of ['binary', '8bit', '7BIT']) {
    const head = `${named('a')}\r\nContent-Transfer-Encoding: ${encoding}`;
    expect(parse(handmade(partOf(head, 'YQ=='))).fields).toEqual([{ name: 'a', value: 'YQ==' }]);
  }
  for (const encoding of ['base64', 'quoted-printable']) {
    const head = `${named('a')}\r\nContent-Transfer-Encoding: ${encoding}`;
    expect(refusalOf(handmade(partOf(head, 'YQ=='))).message).toContain('content-transfer-encoding');
  }
});

test('ERR-5 no rejection of a form quotes its content', () => {
  const canary = 'canary';
  const filled = partOf(named(canary, `; filename="${canary}"`), canary);
  const broken = [
    { ...handmade(filled), bytes: filled },
    handmade(Buffer.from(canary), filled),
    handmade(partOf(`${canary}: ${canary}`, canary)),
    handmade(partOf(named(canary), Buffer.concat([Buffer.from(canary), Uint8Array.of(0xff)]))),
    handmade(partOf(`${named(canary)}\r\nContent-Transfer-Encoding: ${canary}`, canary)),
    handmade(partOf(named(canary), canary.repeat(50_000))),
    handmade(partOf(`${canary}: ${canary.repeat(2_000)}`)),
    handmade(...Array.from({ length: 65 }, () => filled)),
    { bytes: filled, contentType: `multipart/form-data; boundary=${canary.repeat(20)}` },
  ];
  for (const sent of broken) {
    const { message, cause } = refusalOf(sent);
    expect(message).not.toContain(canary);
    expect(cause).toBeUndefined();
  }
});
