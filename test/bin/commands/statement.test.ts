import { expect, test } from 'vitest';
import { printStatement } from '../../../bin/commands/statement.ts';
import { toStatementObject } from '../../../lambdas/protocols/account/statement-object.ts';
import { scriptedTerminal } from '../../support/scripted-terminal.ts';

const sums = {
  openingPicos: 9n,
  creditsPicos: 0n,
  returnsPicos: 0n,
  chargesPicos: 5n,
  closingPicos: 4n,
  heldPicos: 0n,
};
const charges = [{ model: 'alpha-1', requests: 5_000, amountPicos: 3n }];

/** Prints a statement of a month. Its charges are incomplete without `otherMonthPicos`. */
const printed = async (
  status: 'open' | 'closed',
  otherMonthPicos?: bigint,
  format: 'json' | 'csv' | 'text' = 'text',
) => {
  const month = { month: '2026-11', status, ...sums, changes: [], charges };
  const chargesComplete = otherMonthPicos !== undefined;
  const { terminal, written } = scriptedTerminal();
  const options = format === 'text' ? {} : ({ [format]: true } as const);
  await printStatement(terminal, toStatementObject({ ...month, chargesComplete, otherMonthPicos }), options);
  return written;
};

test('BILL-22 the command prints complete charges without a message', async () => {
  const { stdout, stderr } = await printed('closed', 2n);
  expect(stdout).toMatch(/^charges_complete +true$/m);
  expect(stdout).toMatch(/^settled_in_other_month_usd +0\.000000000002$/m);
  expect(stderr).toBe('');
});

test('BILL-22 the command reports that further runs add charges to a closed month', async () => {
  const { stdout, stderr } = await printed('closed');
  expect(stdout).toMatch(/^charges_complete +false$/m);
  expect(stdout).toMatch(/^settled_in_other_month_usd +-$/m);
  expect(stderr).toContain('Run the command again to add more. charges_usd is exact.');
});

test('BILL-22 the command reports that the present month lists only its newest charges', async () => {
  const { stderr } = await printed('open');
  expect(stderr).toContain('only the newest are listed. charges_usd is exact.');
});

test.for(['json', 'csv'] as const)('BILL-22 the message is not part of the %s', async (format) => {
  const { stdout, stderr } = await printed('closed', undefined, format);
  expect(stdout).not.toContain('Run the command');
  expect(stdout).toContain('charges_complete');
  expect(stderr).toContain('Run the command');
});
