import { expect, test } from 'vitest';
import { BOUNDARY, handmade, named, parse, partOf, refusalOf } from './forms.ts';

test.for([
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary= ',
  `multipart/form-data; boundary=${'x'.repeat(71)}`,
])('GEN-12 no boundary in %s is 400 naming the header', (contentType) => {
  const refusal = refusalOf({ bytes: Buffer.from('--x--'), contentType });
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error', param: 'content-type' });
  expect(refusal.message).toContain('content-type');
  expect(refusal.message).not.toContain('xxx');
});

test('GEN-12 a boundary of 70 characters is taken', () => {
  const boundary = 'b'.repeat(70);
  const contentType = `multipart/form-data; boundary=${boundary}`;
  expect(parse({ bytes: Buffer.from(`--${boundary}--`), contentType }).fields).toEqual([]);
});

test('GEN-2 a form has at most 64 parts', () => {
  const part = partOf(named('a'), '1');
  expect(parse(handmade(...Array.from({ length: 64 }, () => part))).fields).toHaveLength(64);
  const refusal = refusalOf(handmade(...Array.from({ length: 65 }, () => part)));
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error' });
  expect(refusal.message).toBe('The form has more than 64 parts.');
});

const msOf = (work: () => void): number => {
  const began = performance.now();
  work();
  return performance.now() - began;
};

test('GEN-2 a hundred thousand parts are refused at once', () => {
  const part = partOf(named('a'), '1');
  const sent = handmade(...Array.from({ length: 100_000 }, () => part));
  expect(msOf(() => expect(refusalOf(sent).message).toContain('64 parts'))).toBeLessThan(500);
});

test('GEN-2 the head of a part has at most 8,192 bytes', () => {
  const filler = 'x'.repeat(8_192 - named('a').length - 'X-A: \r\n'.length);
  expect(parse(handmade(partOf(`X-A: ${filler}\r\n${named('a')}`, '1'))).fields).toHaveLength(1);
  expect(refusalOf(handmade(partOf(`X-A: x${filler}\r\n${named('a')}`, '1'))).message).toContain('8192 bytes');
});

test('GEN-2 a head that never ends, or is full of parameters, is read or refused at once', () => {
  const endless = Buffer.alloc(20_000_000, 'a: b\r\n');
  const heads = [
    ';x="'.repeat(2_000),
    `;${' filename'.repeat(880)}`,
    `;x${' '.repeat(8_000)}=`,
    ';filename="'.repeat(700),
  ];
  const full = heads.map((head) => handmade(...Array.from({ length: 64 }, () => partOf(named('a', head), '1'))));
  const ms = msOf(() => {
    expect(refusalOf(handmade(Buffer.from(`--${BOUNDARY}\r\n`), endless)).message).toContain('8192 bytes');
    for (const sent of full) parse(sent);
  });
  expect(ms).toBeLessThan(2_000);
});

test('GEN-1 a file of 20 MiB is a part of the body, not a copy', () => {
  const sent = handmade(partOf(named('a', '; filename="a"'), Buffer.alloc(20_000_000, 'a')));
  const [file] = parse(sent).files;
  expect(file?.bytes.length).toBe(20_000_000);
  expect(file?.bytes.buffer).toBe(sent.bytes.buffer);
});

test('GEN-2 a boundary that its file is full of the beginning of is found at once', () => {
  const boundary = '-'.repeat(70);
  const head = `--${boundary}\r\n${named('a', '; filename="a"')}\r\n\r\n`;
  const bytes = Buffer.concat([
    Buffer.from(head),
    Buffer.alloc(20_000_000, '\r\n--'),
    Buffer.from(`\r\n--${boundary}--`),
  ]);
  const contentType = `multipart/form-data; boundary=${boundary}`;
  expect(msOf(() => expect(parse({ bytes, contentType }).files).toHaveLength(1))).toBeLessThan(2_000);
});

test('GEN-2 a field has at most 262,144 bytes', () => {
  expect(parse(handmade(partOf(named('a'), 'x'.repeat(262_144)))).fields).toHaveLength(1);
  const refusal = refusalOf(handmade(partOf(named('a'), 'x'.repeat(262_145))));
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error' });
  expect(refusal.message).toContain('262144 bytes');
});
