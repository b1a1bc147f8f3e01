import { toTable } from '../output.ts';
import type { AssemblyStack } from './read-assembly.ts';

/** Lists the stacks that a deployment would create or update. */
export const toPlan = (stacks: readonly AssemblyStack[]): string =>
  toTable(
    ['stack', 'region', 'resources'],
    stacks.map(({ name, region, resources }) => ({ stack: name, region, resources: resources.length })),
  );
