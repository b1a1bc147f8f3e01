import { expect, test, vi } from 'vitest';
import { BOUNDARY, handmade, named, parse, partOf, refusalOf } from './forms.ts';

test.for([
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary= ',
  `multipart/form-data; boundary=${'x'.repeat(71)}`,
])('GEN-12 a missing or invalid boundary in %s is 400 and names the header', (contentType) => {
  const refusal = refusalOf({ bytes: Buffer.from('--x--'), contentType });
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error', param: 'content-type' });
  expect(refusal.message).toContain('content-type');
  expect(refusal.message).not.toContain('xxx');
});

test('GEN-12 a boundary of 70 characters is accepted', () => {
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

test('GEN-2 a form of ten thousand parts is read up to its 65th part', () => {
  const part = partOf(named('a'), '1');
  const sent = handmade(...Array.from({ length: 10_000 }, () => part));
  const pieces = vi.spyOn(sent.bytes, 'subarray');
  expect(refusalOf(sent).message).toContain('64 parts');
  expect(pieces.mock.calls.length).toBeLessThan(3 * 65);
});

test('GEN-2 a part whose head has no end is 400', () => {
  const endless = Buffer.alloc(1_000_000, 'a: b\r\n');
  expect(refusalOf(handmade(Buffer.from(`--${BOUNDARY}\r\n`), endless)).message).toContain('8192 bytes');
});

/** A search with unbounded backtracking would not end here. */
test('GEN-2 part headers with many parameters are read', () => {
  const heads = [
    ';x="'.repeat(2_000),
    `;${' filename'.repeat(880)}`,
    `;x${' '.repeat(8_000)}=`,
    ';filename="'.repeat(700),
  ];
  for (const head of heads) {
    const sent = handmade(...Array.from({ length: 64 }, () => partOf(named('a', head), '1')));
    const { fields, files } = parse(sent);
    expect(fields.length + files.length).toBe(64);
  }
});

test('GEN-1 the bytes of a file are a view of the body, not a copy', () => {
  const sent = handmade(partOf(named('a', '; filename="a"'), Buffer.alloc(100_000, 'a')));
  const [file] = parse(sent).files;
  expect(file?.bytes.length).toBe(100_000);
  expect(file?.bytes.buffer).toBe(sent.bytes.buffer);
});

test('GEN-2 a boundary is found after a file that repeats the start of the boundary', () => {
  const boundary = '-'.repeat(70);
  const head = `--${boundary}\r\n${named('a', '; filename="a"')}\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(100_000, '\r\n--'), Buffer.from(`\r\n--${boundary}--`)]);
  const contentType = `multipart/form-data; boundary=${boundary}`;
  expect(parse({ bytes, contentType }).files).toMatchObject([{ bytes: { length: 100_000 } }]);
});

test('GEN-2 a field has at most 262,144 bytes', () => {
  expect(parse(handmade(partOf(named('a'), 'x'.repeat(262_144)))).fields).toHaveLength(1);
  const refusal = refusalOf(handmade(partOf(named('a'), 'x'.repeat(262_145))));
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error' });
  expect(refusal.message).toContain('262144 bytes');
});
