import type { Command } from 'commander';
import { guardAccount } from './caller.ts';
import { newCommand, runCommand } from './command-line.ts';
import { addAccountsCommands } from './commands/accounts.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addBotCommands } from './commands/bot.ts';
import { addCatalogCommands } from './commands/catalog.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addHoldsCommands } from './commands/holds.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeysCommands } from './commands/keys.ts';
import { addMaintenanceCommands } from './commands/maintenance.ts';
import { addOutboxCommands } from './commands/outbox.ts';
import { addUsageCommands } from './commands/usage.ts';
import { addVideosCommands } from './commands/videos.ts';
import { misused } from './exit.ts';
import type { PlaceOptions } from './place.ts';
import type { Terminal } from './terminal.ts';

export const createProgram = (terminal: Terminal): Command => {
  const program = newCommand('cli', terminal)
    .description('Operator commands of the model gateway.')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed or not found, 2 wrong usage, 3 refused by a rule.')
    .hook('preAction', async (_, command) => {
      refuseUnasked(terminal, command);
      const { env } = command.opts<PlaceOptions>();
      if (env !== undefined) await guardAccount(env, terminal);
    });
  addAccountsCommands(program, terminal);
  addKeysCommands(program, terminal);
  addUsageCommands(program, terminal);
  addCatalogCommands(program, terminal);
  addHoldsCommands(program, terminal);
  addVideosCommands(program, terminal);
  addAuditCommand(program, terminal);
  addMaintenanceCommands(program, terminal);
  addOutboxCommands(program, terminal);
  addBotCommands(program, terminal);
  addImportCommand(program, terminal);
  addDoctorCommand(program, terminal);
  return program;
};

/**
 * Rejects a write without `--yes` and without a terminal before anything is read, so that a script without `--yes`
 * always fails.
 */
const refuseUnasked = (terminal: Terminal, command: Command): void => {
  const { yes, dryRun } = command.opts<{ yes?: true; dryRun?: true }>();
  const writes = command.options.some(({ long }) => long === '--yes');
  if (!writes || yes || dryRun || terminal.isInteractive) return;
  throw misused('--yes: required without a terminal. Add --yes, or use --dry-run to see what would change.');
};

export const runProgram = (args: readonly string[], terminal: Terminal): Promise<number> =>
  runCommand(createProgram(terminal), args, terminal);
