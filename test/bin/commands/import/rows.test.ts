import { expect, test } from 'vitest';
import { readRows } from '../../../../bin/commands/import/rows.ts';

const read = (text: string) => readRows(Buffer.from(text));

test('OPS-5 import: good rows are read whole, in any order of columns', () => {
  expect(read('chat_id,balance_usd,account\r\n,0,one\r\n77,2.000000000001,two@example.org\r\n')).toEqual({
    refused: [],
    rows: [
      { line: 2, account: 'one', balancePicos: 0n, chatId: undefined },
      { line: 3, account: 'two@example.org', balancePicos: 2_000_000_000_001n, chatId: '77' },
    ],
  });
});

test.each([
  ['a cell too many', 'one,1,2', 'cells'],
  ['a cell too few', 'one', 'cells'],
  ['an id with a sign that means something', 'a#b,1', 'account: '],
  ['no id', ',1', 'account: '],
  ['an id that is too long', `${'a'.repeat(65)},1`, 'account: '],
  ['no balance', 'one,', 'balance_usd: '],
  ['a balance below zero', 'one,-1', 'balance_usd: '],
  ['an exponent', 'one,1e3', 'balance_usd: '],
  ['a thousands sign', 'one,"1,000"', 'balance_usd: '],
  ['a thirteenth decimal', 'one,0.1234567890123', 'balance_usd: '],
  ['spaces', 'one, 1', 'balance_usd: '],
])('OPS-5 import: %s is refused with line and reason, the others are not', (_, row, reason) => {
  const { rows, refused } = read(`account,balance_usd\ngood,1\n${row}\nalso-good,2\n`);
  expect(rows.map(({ account }) => account)).toEqual(['good', 'also-good']);
  expect(refused).toEqual([expect.objectContaining({ line: 3, reason: expect.stringContaining(reason) })]);
});

test.each(['0', '-5', '1.5', '@name', '99999999999999999'])('OPS-5 import: the chat %s is none', (chat) => {
  const { refused } = read(`account,balance_usd,chat_id\none,1,${chat}\n`);
  expect(refused).toEqual([expect.objectContaining({ line: 2, reason: expect.stringContaining('chat_id: ') })]);
});

test('OPS-5 import: of rows that name one account or one chat twice none counts', () => {
  const { rows, refused } = read('account,balance_usd,chat_id\na,1,5\nb,1,\na,2,\nc,1,5\n');
  expect(rows.map(({ account }) => account)).toEqual(['b']);
  expect(refused.map(({ line }) => line)).toEqual([2, 2, 4, 5]);
  expect(refused.map(({ reason }) => reason)).toContain('account: stands in the lines 2, 4');
  expect(refused.map(({ reason }) => reason)).toContain('chat_id: stands in the lines 2, 5');
});

test.each([
  ['an empty file', ''],
  ['other columns', 'id,balance\none,1\n'],
  ['a column that nobody knows', 'account,balance_usd,key\none,1,x\n'],
  ['a column that stands twice', 'account,balance_usd,account\none,1,x\n'],
])('OPS-5 import: %s is refused as a whole, at line 1', (_, text) => {
  expect(read(text)).toEqual({ rows: [], refused: [expect.objectContaining({ line: 1, account: null })] });
});

test('OPS-5 import: a file that is not UTF-8, or breaks off in quotes, is refused as a whole', () => {
  const latin = Buffer.from('account,balance_usd\nb\u00fcro,1\n', 'latin1');
  expect(readRows(latin)).toEqual({ rows: [], refused: [{ line: 1, account: null, reason: 'the file is not UTF-8' }] });
  expect(read('account,balance_usd\none,1\n"two,2\n')).toMatchObject({ rows: [], refused: [{ line: 3 }] });
});
