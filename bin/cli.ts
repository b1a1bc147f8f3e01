import { Command, CommanderError } from 'commander';
import { addAuditCommand } from './commands/audit.ts';
import { addCatalogCommands } from './commands/catalog.ts';

/** stdout carries data, stderr talk. Exit 0: done, 1: failed, 2: wrong usage. */
const USAGE_ERROR = 2;

const program = new Command('cli').description('operator commands of the model gateway').exitOverride();
addCatalogCommands(program);
addAuditCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
