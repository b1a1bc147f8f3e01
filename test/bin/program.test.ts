import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createProgram } from '../../bin/program.ts';
import { environments } from '../../lib/environments.ts';
import { scriptAws } from '../support/scripted-account.ts';
import { runHere, scriptedTerminal } from '../support/scripted-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-program-'));
const file = join(folder, 'rows.csv');
writeFileSync(file, 'account,balance_usd\none,1\n');

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

/** Returns every command without subcommands, so that these tests also cover a new command. */
const leavesOf = (command: Command, path: readonly string[] = []): readonly Leaf[] =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));

const groupsOf = (command: Command, path: readonly string[] = []): readonly (readonly string[])[] =>
  command.commands.length === 0
    ? []
    : [path, ...command.commands.flatMap((each) => groupsOf(each, [...path, each.name()]))];

const program = createProgram(scriptedTerminal().terminal);
const leaves = leavesOf(program).map((leaf) => [leaf.path.join(' '), leaf] as const);
const longsOf = ({ command }: Leaf): readonly string[] => command.options.map(({ long }) => long ?? '');
const writing = leaves.filter(([, leaf]) => longsOf(leaf).includes('--yes'));
const placed = leaves.filter(([, leaf]) => longsOf(leaf).includes('--env'));

/** Returns the arguments that a command requires. */
/** Values of arguments whose form is checked. */
const valuesByName: Readonly<Record<string, string>> = { file, month: '2026-11' };

const argsOf = ({ path, command }: Leaf): readonly string[] => [
  ...path,
  ...command.registeredArguments.filter(({ required }) => required).map((each) => valuesByName[each.name()] ?? 'x'),
  ...command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? '', '1']),
];

/** Commands without required arguments. */
const withoutWords = [
  ...['accounts list', 'catalog check', 'holds list', 'videos list', 'audit', 'bot setup', 'doctor'],
  ...['show', 'on', 'pause', 'off'].map((name) => `maintenance ${name}`),
];

test('OPS-5 the command line has all commands', () => {
  expect(leaves.map(([name]) => name).toSorted()).toEqual(
    [
      ...['list', 'show', 'statement', 'block', 'unblock'].map((name) => `accounts ${name}`),
      ...['credit', 'debit', 'refund', 'chargeback', 'reverse-chargeback', 'clear-uncollected'].map(
        (name) => `accounts ${name}`,
      ),
      ...['issue', 'rotate', 'revoke', 'list', 'create', 'edit'].map((name) => `keys ${name}`),
      ...['list', 'export', 'rebuild'].map((name) => `usage ${name}`),
      ...['catalog check', 'catalog diff', 'holds list', 'holds release'],
      ...['show', 'on', 'pause', 'off'].map((name) => `maintenance ${name}`),
      'outbox replay',
      ...['videos list', 'videos settle', 'audit', 'bot setup', 'doctor', 'import'],
    ].toSorted(),
  );
});

describe.each(leaves)('%s', (name, leaf) => {
  test('OPS-5 --help goes to stdout and exits with 0', async () => {
    const { status, stdout, stderr } = await runHere([...leaf.path, '--help']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: cli ${name} `));
  });

  test.each([
    ['an unknown option', ['--nope']],
    ['an extra argument', ['x', 'x', 'x', 'x']],
  ])('OPS-5 %s exits with 2 and a message on stderr', async (_, more) => {
    const { status, stdout, stderr } = await runHere([...argsOf(leaf), ...more]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .*\n/);
  });

  test('OPS-5 the command has the option --json', () => {
    expect(longsOf(leaf)).toContain('--json');
  });
});

test.each(leaves.filter(([name]) => !withoutWords.includes(name)))(
  'OPS-5 %s without a required argument or option exits with 2',
  async (_, leaf) => {
    const { status, stdout, stderr } = await runHere(leaf.path);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: (missing required argument|required option) /);
  },
);

describe.each(writing)('%s', (_, leaf) => {
  test('OPS-5 a write without a terminal and without --yes is rejected before anything is read', async () => {
    for (const more of [[], ['--json']]) {
      const { status, stdout, stderr } = await runHere([...argsOf(leaf), ...more]);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toBe(
        '--yes: required without a terminal. Add --yes, or use --dry-run to see what would change.\n',
      );
    }
  });

  test('OPS-5 the command has --dry-run, and requires --ref and --reason if it has --ref', () => {
    const longs = longsOf(leaf);
    expect(longs).toContain('--dry-run');
    const required = leaf.command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long);
    if (longs.includes('--ref')) expect(required).toEqual(expect.arrayContaining(['--ref', '--reason']));
  });
});

test('OPS-5 commands that move money require a reference and a reason', () => {
  const named = writing.filter(([, leaf]) => longsOf(leaf).includes('--ref')).map(([name]) => name);
  expect(named.toSorted()).toEqual([
    'accounts chargeback',
    'accounts credit',
    'accounts debit',
    'accounts refund',
    'accounts reverse-chargeback',
    'holds release',
    'import',
    'videos settle',
  ]);
});

test.each(placed)('OPS-5 %s with an unknown environment exits with 2', async (_, leaf) => {
  const { status, stdout, stderr } = await runHere([...argsOf(leaf), '--env', 'nowhere', '--dry-run']);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: .*'nowhere'/);
});

test('OPS-12 every command with --env of another account exits with 2 after one call', async () => {
  const environment = { ...environments.prod, account: '210987654321' };
  vi.spyOn(environments, 'prod', 'get').mockReturnValue(environment);
  onTestFinished(() => void vi.restoreAllMocks());
  const aws = await scriptAws({});
  expect(placed.length).toBeGreaterThan(15);
  for (const [name, leaf] of placed) {
    const yes = longsOf(leaf).includes('--yes') ? ['--yes'] : [];
    const { status, stdout, stderr } = await runHere([...argsOf(leaf), '--env', 'prod', ...yes]);
    expect([status, stdout], name).toEqual([2, '']);
    expect(stderr, name).toMatch(/^environments\.prod\.account: is 210987654321, but [^\n]*\n$/);
  }
  expect(aws.calls).toEqual(placed.map(() => 'GetCallerIdentity'));
  expect(aws.asked).toEqual([]);
});

test('OPS-12 a command on an environment that accepts every account does not ask for the account', async () => {
  const aws = await scriptAws({});
  expect(await runHere(['accounts', 'list', '--env', 'dev'])).toMatchObject({ status: 1, stdout: '' });
  expect([aws.calls, aws.asked]).toEqual([[], ['gateway-dev-data']]);
});

const groups = groupsOf(program).map(
  (path) => [path.join(' ') || 'OPS-5 %s without a command prints its help on stderr', path] as const,
);

test.each(groups)('OPS-5 %s without a command prints its help on stderr', async (_, path) => {
  const { status, stdout, stderr } = await runHere(path);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^Usage: cli /);
});

const money = (amount: string, ref = 'r', reason = 'why'): readonly string[] => [
  ...['accounts', 'credit', 'x', '--yes', '--amount', amount, '--ref', ref, '--reason', reason],
];

test.each([
  ['0', 'r', 'why'],
  ['-1', 'r', 'why'],
  ['1e3', 'r', 'why'],
  ['1.0000000000001', 'r', 'why'],
  ['1', 'a b', 'why'],
  ['1', 'r'.repeat(201), 'why'],
  ['1', 'r', ' '],
  ['1', 'r', 'two\nlines'],
])('OPS-5 an amount %j with --ref %j and --reason %j is wrong usage', async (amount, ref, reason) => {
  expect(await runHere(money(amount, ref, reason))).toMatchObject({ status: 2, stdout: '' });
});
