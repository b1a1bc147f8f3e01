import { type Case, type Client, scenarioNames } from './client.ts';
import type { Result } from './run-client.ts';

const marks = { pass: 'pass', fail: 'FAIL', limit: 'limit', skip: 'skip' } as const;

/** Returns a table with one row per client, route and model, and one column per scenario. */
export const toTable = (results: readonly Result[]): string => {
  const rows = rowsOf(results).map(({ client, route, model, of }) => [
    client.id,
    route,
    model,
    ...scenarioNames.map((name) => {
      const result = of.find(({ scenario }) => scenario === name);
      return result === undefined ? '-' : marks[result.verdict.outcome];
    }),
  ]);
  const table = [['client', 'route', 'model', ...scenarioNames.map((name) => name.replace('error_', ''))], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
};

export interface Row extends Pick<Case, 'route' | 'model'> {
  readonly client: Client;
  readonly of: readonly Result[];
}

/** Results by client, route and model, in the order in which they came. */
export const rowsOf = (results: readonly Result[]): readonly Row[] =>
  [...Map.groupBy(results, ({ client, route, model }) => `${client.id} ${route} ${model}`).values()].flatMap((of) => {
    const [first] = of;
    return first === undefined ? [] : [{ client: first.client, route: first.route, model: first.model, of }];
  });

export const toLine = ({ client, route, model, scenario, verdict }: Result): string =>
  `${verdict.outcome === 'fail' ? 'FAILED' : verdict.outcome} ${client.id} ${route} ${model} ${scenario}` +
  `${'reason' in verdict ? `: ${verdict.reason}` : ''}`;
