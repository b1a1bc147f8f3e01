import { median } from './measure.ts';

/** Measurements of one program in one round. Some rounds have no time for all of them. */
export interface Round {
  readonly plainUs: number;
  readonly perSecond: number;
  readonly addedMs?: number;
  /** Undefined in all rounds if the program does not stream. */
  readonly streamUs?: number;
}

export interface Result {
  readonly id: string;
  readonly title: string;
  readonly rounds: readonly Round[];
  readonly rssMb: number;
  /** Reason why the program does not stream. */
  readonly streamProblem?: string;
}

const columns: readonly (readonly [title: string, measure: keyof Round, digits: number])[] = [
  ['CPU per plain chat, us', 'plainUs', 0],
  ['plain chats/s', 'perSecond', 0],
  ['added p50, ms', 'addedMs', 2],
  ['CPU per 100-event stream, us', 'streamUs', 0],
];

/** Median, with the median of the ratios to the reference in the same round. */
const cellOf = (result: Result, reference: Result | undefined, measure: keyof Round, digits: number): string => {
  const values = result.rounds.flatMap((round) => round[measure] ?? []);
  if (values.length === 0) return `fails: ${result.streamProblem ?? 'not measured'}`;
  const shown = median(values).toFixed(digits);
  const ratios = result.rounds.flatMap((round, index) => {
    const [value, other] = [round[measure], reference?.rounds[index]?.[measure]];
    return value === undefined || other === undefined ? [] : value / other;
  });
  return ratios.length === 0 ? shown : `${shown} (${median(ratios).toFixed(2)})`;
};

const memoryOf = ({ rssMb }: Result, reference: Result | undefined): string =>
  `${rssMb.toFixed(0)}${reference ? ` (${(rssMb / reference.rssMb).toFixed(2)})` : ''}`;

/** Markdown table of all programs. Ratios to the program `referenceId` are in parentheses, if it was measured. */
export const toTable = (results: readonly Result[], referenceId: string): string => {
  const reference = results.find(({ id }) => id === referenceId);
  const rows = [
    ['program', ...columns.map(([title]) => title), 'memory, MB'],
    ...results.map((result) => [
      result.title,
      ...columns.map(([, measure, digits]) => cellOf(result, reference, measure, digits)),
      memoryOf(result, reference),
    ]),
  ];
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? [];
  const padded = (row: readonly string[]): string =>
    `| ${row.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`;
  const [head = [], ...body] = rows;
  const rule = `|${widths.map((width, index) => (index === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [padded(head), rule, ...body.map(padded)].join('\n');
};
