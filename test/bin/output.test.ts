import { expect, test } from 'vitest';
import { plain, printFacts, printList, toJson, toTable } from '../../bin/output.ts';
import { scriptedTerminal } from '../support/scripted-terminal.ts';

test('OPS-5 a table is aligned, with numbers and amounts right-aligned and no trailing blanks', () => {
  const rows = [
    { id: 'a', cost_usd: '0.5', count: 7, note: 'x' },
    { id: 'longer', cost_usd: '12.25', count: 12, note: null },
  ];
  expect(toTable(['id', 'cost_usd', 'count', 'note'], rows)).toBe(
    ['id      cost_usd  count  note', 'a            0.5      7  x', 'longer     12.25     12  -', ''].join('\n'),
  );
});

test('OPS-5 text from users cannot control a terminal, in tables or in JSON', async () => {
  expect(plain('a\u001b[2Jb\r\nc\u202e\u2028d\u0000')).toBe('a\uFFFD[2Jb\uFFFD\uFFFDc\uFFFD\uFFFDd\uFFFD');
  const { terminal, written } = scriptedTerminal();
  await printFacts(terminal, false, { name: '\u001b[31mred', of: { deep: '\n' } });
  expect(written.stdout).toBe('name  \uFFFD[31mred\nof    {"deep":"\\n"}\n');
  const text = '\u001b]0;owned\u0007\u009b31m\u202e\u200d\u2028\u{e0001} plain';
  const json = toJson({ user: text });
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(JSON.parse(json)).toEqual({ user: text });
});

test('OPS-5 a list as JSON has every field, and an empty list is reported on stderr', async () => {
  const list = { rows: [{ id: 'a', hidden: [1] }], columns: ['id'], nothing: 'no things' };
  const json = scriptedTerminal();
  await printList(json.terminal, true, list);
  expect(JSON.parse(json.written.stdout)).toEqual({ object: 'list', data: [{ id: 'a', hidden: [1] }] });
  const text = scriptedTerminal();
  await printList(text.terminal, false, { ...list, rows: [] });
  expect(text.written).toMatchObject({ stdout: '', stderr: 'no things\n' });
});
