import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import * as z from 'zod';
import { type Client, type Expectation, type Install, type ScenarioName, scenarioNames } from './client.ts';
import { pinFiles } from './install.ts';
import { type Row, rowsOf } from './report.ts';
import type { Result } from './run-client.ts';

/** The guide. `npm run test:clients -- --write` generates the parts between its markers. */
export const guidePath = join(import.meta.dirname, '../../docs/guides/clients.md');

const packageSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/** Returns the version of a package in the first pin file of each kind. */
const pinsIn: Readonly<Record<Install['kind'], (text: string, name: string) => string | undefined>> = {
  npm: (text, name) => packageSchema.parse(JSON.parse(text)).dependencies[name],
  venv: (text, name) =>
    text
      .split('\n')
      .map((line) => line.trim().split('=='))
      .find(([pinned = '']) => pinned.replace(/\[.*\]$/, '') === name)?.[1]
      ?.split(' ')[0],
  maven: (text, name) =>
    [...text.matchAll(/<groupId>(.*)<\/groupId>\s*<artifactId>(.*)<\/artifactId>\s*<version>(.*)<\/version>/g)].find(
      ([, group, artifact]) => `${group}:${artifact}` === name,
    )?.[3],
};

/** Returns the pinned version of a client's package. Throws if the package has no pin. */
export const pinOf = ({ install }: Client, name: string): string => {
  const text = readFileSync(pinFiles(install)[0] ?? '', 'utf8');
  const version = pinsIn[install.kind](text, name);
  if (version === undefined) throw new Error(`${name}: no pin. Add it to the pins of the client.`);
  return version;
};

const versionsOf = (client: Client): string =>
  client.packages.map((name) => `\`${name}\` ${pinOf(client, name)}`).join(', ');

const languages: Readonly<Record<string, string>> = {
  '.mjs': 'js',
  '.py': 'python',
  '.java': 'java',
  '.sh': 'sh',
  '.toml': 'toml',
  '.json': 'json',
};

/**
 * Returns the set-up exactly as the suite runs it: the text between the marks of a file, or the whole file if it has no
 * marks.
 */
const setUpOf = ({ setUp, program }: Client): string => {
  const path = setUp ?? program;
  const lines = readFileSync(join(import.meta.dirname, path), 'utf8').split('\n');
  const isMark = (line: string, name: string): boolean => new RegExp(`^\\s*(//|#) ${name}$`).test(line);
  const from = lines.findIndex((line) => isMark(line, 'set-up'));
  const to = lines.findIndex((line, index) => index > from && isMark(line, 'end'));
  if (from >= 0 && to < 0) throw new Error(`${path}: the mark "end" is missing after "set-up".`);
  const shown = from < 0 ? lines : lines.slice(from + 1, to);
  const indent = Math.min(...shown.filter(Boolean).map((line) => line.search(/\S/)));
  const text = shown.map((line) => line.slice(indent)).join('\n');
  return `\`\`\`${languages[extname(path)]}\n${text.trim()}\n\`\`\``;
};

/** Version, set-up, ignored fields and limits of a client, all from the files of the suite. */
export const clientBlock = (client: Client): string => {
  const expectations = client.cases.flatMap(({ route, model, scenarios }) =>
    Object.entries(scenarios).map(([scenario, expectation]) => ({ route, model, scenario, ...expectation })),
  );
  const limits = expectations.flatMap(({ limit, model, scenario }) =>
    limit === undefined ? [] : [`- \`${scenario}\` with \`${model}\`: ${limit}`],
  );
  return [
    `Tested with ${versionsOf(client)}.`,
    setUpOf(client),
    ...ignoredLines(expectations),
    ...(limits.length > 0 ? [limits.join('\n')] : []),
  ].join('\n\n');
};

const ignoredLines = (expectations: readonly (Expectation & { readonly model: string })[]): readonly string[] => {
  const models = new Map<string, Set<string>>();
  for (const { ignored = [], model } of expectations) {
    for (const name of ignored) models.set(name, (models.get(name) ?? new Set()).add(model));
  }
  if (models.size === 0) return [];
  const lines = [...models].sort().map(([name, of]) => `\`${name}\` (${[...of].map((id) => `\`${id}\``).join(', ')})`);
  return [`Ignored and listed in \`X-Service-Ignored-Parameters\`: ${lines.join('; ')}.`];
};

const cells = { pass: '✓', fail: '✗', limit: 'limit', skip: 'skipped' } as const;

/** Results of a run: one row per client, route and model. */
export const resultsBlock = (results: readonly Result[], day: string): string => {
  const head = ['client', 'route', 'model', ...scenarioNames.map(toHeading)];
  const rows = rowsOf(results).map((row) => [
    `${row.client.title} (${versionsOf(row.client)})`,
    row.route,
    `\`${row.model}\``,
    ...scenarioNames.map((name) => cellOf(row, name)),
  ]);
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  const failures = results.flatMap(({ client, route, model, scenario, verdict }) =>
    verdict.outcome === 'fail'
      ? [`- ${client.title}, ${route}, \`${model}\`, \`${scenario}\`: ${inline(verdict.reason)}`]
      : [],
  );
  return [`Run on ${day}.`, table.join('\n'), ...(failures.length > 0 ? [failures.join('\n')] : [])].join('\n\n');
};

/** Makes the reason of a failure safe in one line of Markdown: no line breaks or markup, at most 300 characters. */
const inline = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[<>|`]/g, ' ')
    .slice(0, 300);

const toHeading = (name: ScenarioName): string => name.replace('error_', '').replace('tools_dump', 'tools, stored');

const cellOf = ({ of }: Row, name: ScenarioName): string => {
  const result = of.find(({ scenario }) => scenario === name);
  return result === undefined ? '' : cells[result.verdict.outcome];
};

const begin = (name: string): string => `<!-- generated: ${name} -->`;
const END = '<!-- end -->';

/** Text between the markers of a block. Undefined if the page lacks them. */
export const readBlock = (page: string, name: string): string | undefined => {
  const from = page.indexOf(begin(name));
  const to = page.indexOf(END, from);
  return from < 0 || to < 0 ? undefined : page.slice(from + begin(name).length, to).trim();
};

export const replaceBlock = (page: string, name: string, text: string): string => {
  const old = readBlock(page, name);
  if (old === undefined) throw new Error(`The page lacks "${begin(name)}" and "${END}". Add them.`);
  const from = page.indexOf(begin(name));
  const to = page.indexOf(END, from);
  return `${page.slice(0, from)}${begin(name)}\n\n${text}\n\n${page.slice(to)}`;
};
