import type { Command } from 'commander';
import type { MaintenanceState } from '../../lambdas/core/maintenance.ts';
import { type ReadOptions, type WriteOptions, withReading, withWriting } from '../command-options.ts';
import { printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

/** Commands that set the switch, with their effect. */
const changes = {
  on: ['on', 'reject requests that cost money or change an account; background work continues'],
  pause: ['paused', 'also pause the sweeper, the outbox worker and the video steps'],
  off: ['off', 'accept all requests, and continue background work'],
} as const satisfies Record<string, readonly [state: MaintenanceState, description: string]>;

export const addMaintenanceCommands = (program: Command, terminal: Terminal): void => {
  const maintenance = program.command('maintenance').description('the maintenance switch of a gateway');
  withReading(maintenance.command('show').description('show the state: off, on or paused')).action(
    async (options: ReadOptions) => {
      const state = await atPlace(terminal, options, (place) => place.stores.maintenance.read());
      await printFacts(terminal, options.json === true, { maintenance: state });
    },
  );
  for (const [name, [state, description]] of Object.entries(changes)) {
    withWriting(maintenance.command(name).description(description)).action(async (options: WriteOptions) => {
      const before = await atPlace(terminal, options, (place) => change(place, terminal, state, options));
      await printFacts(terminal, options.json === true, { maintenance_before: before, maintenance: state });
    });
  }
};

/** Returns the state before the change. */
const change = async (
  { stores: { maintenance } }: Place,
  terminal: Terminal,
  state: MaintenanceState,
  options: WriteOptions,
): Promise<MaintenanceState> => {
  const before = await maintenance.read();
  if (options.dryRun) {
    printDryRun(terminal);
    return before;
  }
  await confirmWrite(terminal, options, `Set maintenance to ${state}? It is ${before}.`);
  await maintenance.write(state);
  terminal.status(hints[state]);
  return before;
};

/** Next step of the operator after each change. */
const hints: Readonly<Record<MaintenanceState, string>> = {
  off: 'Processes accept requests within 10 s, and background work continues within a minute.',
  on: 'Processes reject new requests within 10 s. Requests in progress end within 15 minutes.',
  paused: 'Background work that already runs ends within 5 minutes.',
};
