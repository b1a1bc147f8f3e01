import { expect, test } from 'vitest';
import { readRows } from '../../../../bin/commands/import/rows.ts';

const read = (text: string) => readRows(Buffer.from(text));

test('OPS-5 import: valid rows are read completely, in any order of columns', () => {
  expect(read('chat_id,balance_usd,account\r\n,0,one\r\n77,2.000000000001,two@example.org\r\n')).toEqual({
    refused: [],
    rows: [
      { line: 2, account: 'one', balancePicos: 0n, chatId: undefined },
      { line: 3, account: 'two@example.org', balancePicos: 2_000_000_000_001n, chatId: '77' },
    ],
  });
});

test.each([
  ['one cell too many', 'one,1,2', 'cells'],
  ['one cell too few', 'one', 'cells'],
  ['an id with a reserved character', 'a#b,1', 'account: '],
  ['no id', ',1', 'account: '],
  ['an id that is too long', `${'a'.repeat(65)},1`, 'account: '],
  ['no balance', 'one,', 'balance_usd: '],
  ['a negative balance', 'one,-1', 'balance_usd: '],
  ['an exponent', 'one,1e3', 'balance_usd: '],
  ['a thousands separator', 'one,"1,000"', 'balance_usd: '],
  ['a thirteenth decimal', 'one,0.1234567890123', 'balance_usd: '],
  ['spaces', 'one, 1', 'balance_usd: '],
])('OPS-5 import: %s is rejected with line and reason, and the other rows are not', (_, row, reason) => {
  const { rows, refused } = read(`account,balance_usd\ngood,1\n${row}\nalso-good,2\n`);
  expect(rows.map(({ account }) => account)).toEqual(['good', 'also-good']);
  expect(refused).toEqual([expect.objectContaining({ line: 3, reason: expect.stringContaining(reason) })]);
});

test.each(['0', '-5', '1.5', '@name', '99999999999999999'])('OPS-5 import: the chat id %s is invalid', (chat) => {
  const { refused } = read(`account,balance_usd,chat_id\none,1,${chat}\n`);
  expect(refused).toEqual([expect.objectContaining({ line: 2, reason: expect.stringContaining('chat_id: ') })]);
});

test('OPS-5 import: all rows that share an account or a chat are rejected', () => {
  const { rows, refused } = read('account,balance_usd,chat_id\na,1,5\nb,1,\na,2,\nc,1,5\n');
  expect(rows.map(({ account }) => account)).toEqual(['b']);
  expect(refused.map(({ line }) => line)).toEqual([2, 2, 4, 5]);
  expect(refused.map(({ reason }) => reason)).toContain('account: repeated in lines 2, 4. Keep one of them');
  expect(refused.map(({ reason }) => reason)).toContain('chat_id: repeated in lines 2, 5. Keep one of them');
});

test.each([
  ['an empty file', ''],
  ['other columns', 'id,balance\none,1\n'],
  ['an unknown column', 'account,balance_usd,key\none,1,x\n'],
  ['a repeated column', 'account,balance_usd,account\none,1,x\n'],
])('OPS-5 import: %s is rejected as a whole, at line 1', (_, text) => {
  expect(read(text)).toEqual({ rows: [], refused: [expect.objectContaining({ line: 1, account: null })] });
});

test('OPS-5 import: a file that is not UTF-8, or ends inside quotes, is rejected as a whole', () => {
  const latin = Buffer.from('account,balance_usd\nb\u00fcro,1\n', 'latin1');
  expect(readRows(latin)).toEqual({
    rows: [],
    refused: [{ line: 1, account: null, reason: 'the file is not UTF-8. Save it as UTF-8' }],
  });
  expect(read('account,balance_usd\none,1\n"two,2\n')).toMatchObject({ rows: [], refused: [{ line: 3 }] });
});
