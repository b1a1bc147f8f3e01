import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CapturedRequest, chooseRequests, onMoreModels, toCaptured, weatherPrompt } from './capture.ts';
import { type Client, scenariosOf } from './client.ts';
import { clients } from './clients.ts';
import { recordNames } from './field-names.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { clientBlock, guidePath, replaceBlock, resultsBlock } from './guide.ts';
import { cacheFolder, InstallError, installPins } from './install.ts';
import { isErrorScenario } from './judge.ts';
import type { Call } from './proxy.ts';
import { toLine, toTable } from './report.ts';
import { type Result, runClient } from './run-client.ts';

// `npm run test:clients`: installs the pinned clients into a cache folder and runs them against `npm start` with
// simulated providers. A client that cannot be installed is skipped.

const { values: options } = parseArgs({
  options: {
    /** Writes the generated parts of the guide and the field recordings. */
    write: { type: 'boolean', default: false },
    /** Skips are failures. */
    strict: { type: 'boolean', default: false },
    /** Ids of clients, separated by commas. */
    only: { type: 'string' },
    /** Time limit of the run in minutes. Scenarios that have not started before it are skipped. */
    minutes: { type: 'string', default: '30' },
    /**
     * Folder for the requests of each client, in the format of `test/clients/corpus`. Clients run on more models and
     * call a tool four times; their results are not checked.
     */
    capture: { type: 'string' },
  },
});

/** Clients that run concurrently, each with an account of its own. */
const CLIENTS_AT_ONCE = 2;

interface ClientReport {
  readonly client: Client;
  readonly results: readonly Result[];
  readonly calls: readonly Call[];
  readonly captured: readonly CapturedRequest[];
}

const wanted = options.only?.split(',');
const isCapturing = options.capture !== undefined;
const chosen = clients
  .filter(({ id }) => wanted === undefined || wanted.includes(id))
  .map((client) => (isCapturing ? onMoreModels(client) : client));
const unknown = wanted?.filter((id) => !clients.some((client) => client.id === id)) ?? [];
if (unknown.length > 0) {
  process.stderr.write(`--only: unknown ${unknown.join(', ')}. Use ${clients.map(({ id }) => id).join(', ')}.\n`);
  process.exit(2);
}
// `process.exit` runs the handlers that end every program of the suite.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** Installs each group of pins once. */
const installAll = async (): Promise<ReadonlyMap<string, string | InstallError>> => {
  const groups = new Map(chosen.map(({ install }) => [JSON.stringify(install), install]));
  const folders = new Map<string, string | InstallError>();
  for (const [group, install] of groups) {
    const folder = await installPins(install, cacheFolder(process.env)).catch((error: unknown) => {
      if (error instanceof InstallError) return error;
      throw error;
    });
    folders.set(group, folder);
  }
  return folders;
};

const endsAt = Date.now() + Number(options.minutes) * 60_000;

const skip = (client: Client, reason: string): ClientReport => {
  const results = client.cases.flatMap((row) =>
    scenariosOf(row).map(([scenario]): Result => {
      const { route, model } = row;
      return { client, route, model, scenario, verdict: { outcome: 'skip', reason } };
    }),
  );
  process.stdout.write(`skip ${client.id}: ${reason}\n`);
  return { client, results, calls: [], captured: [] };
};

const run = async (client: Client, installed: string, gateway: Gateway, poorKey: string): Promise<ClientReport> => {
  const results: Result[] = [];
  const calls: Call[] = [];
  const captured: CapturedRequest[] = [];
  await runClient({
    client,
    gateway,
    installed,
    poorKey,
    weatherPrompt: isCapturing ? weatherPrompt : undefined,
    isOver: () => Date.now() > endsAt,
    onResult: (result, seen) => {
      results.push(result);
      const { route, model, scenario, verdict } = result;
      if (!isErrorScenario(scenario)) {
        calls.push(...seen);
        captured.push(...toCaptured(`${route}, ${model}, ${scenario}`, seen));
      }
      if (verdict.outcome !== 'pass' && !isCapturing) process.stdout.write(`${toLine(result)}\n`);
    },
  });
  return { client, results, calls, captured };
};

const runOrSkip = (...args: Parameters<typeof run>): Promise<ClientReport> =>
  run(...args).catch((error: unknown) => {
    if (error instanceof InstallError) return skip(args[0], error.message);
    throw error;
  });

const runAll = async (gateway: Gateway, folders: ReadonlyMap<string, string | InstallError>) => {
  const poorKey = await gateway.openAccount('poor', '0.00000001');
  // Command-line clients are the last of the list and take the longest.
  const queue = chosen.toReversed().values();
  const reports: ClientReport[] = [];
  const work = async (): Promise<void> => {
    for (const client of queue) {
      const folder = folders.get(JSON.stringify(client.install)) ?? new InstallError('not installed');
      reports.push(
        typeof folder === 'string' ? await runOrSkip(client, folder, gateway, poorKey) : skip(client, folder.message),
      );
    }
  };
  await Promise.all(Array.from({ length: CLIENTS_AT_ONCE }, work));
  return chosen.flatMap((client) => reports.filter((report) => report.client === client));
};

const writeJson = (folder: string, { id }: Client, value: unknown): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.json`), `${JSON.stringify(value, null, 2)}\n`);
};

const write = (reports: readonly ClientReport[]): void => {
  let page = readFileSync(guidePath, 'utf8');
  for (const { client, calls } of reports) {
    page = replaceBlock(page, client.id, clientBlock(client));
    if (calls.length > 0) writeJson(join(import.meta.dirname, 'fields'), client, recordNames(calls));
  }
  const day = new Date().toISOString().slice(0, 10);
  const all = reports.flatMap(({ results }) => results);
  if (wanted === undefined) page = replaceBlock(page, 'results', resultsBlock(all, day));
  writeFileSync(guidePath, page);
};

const folders = await installAll();
const gateway = await startGateway();
const reports = await runAll(gateway, folders).finally(() => gateway.stop());
if (options.write && !isCapturing) write(reports);
if (options.capture !== undefined) {
  for (const { client, captured } of reports) writeJson(options.capture, client, chooseRequests(captured));
  process.exit();
}

const results = reports.flatMap((report) => report.results);
process.stdout.write(`\n${toTable(results)}\n`);
const amountOf = (outcome: Result['verdict']['outcome']): number =>
  results.filter(({ verdict }) => verdict.outcome === outcome).length;
const failed = amountOf('fail') + (options.strict ? amountOf('skip') : 0);
process.stdout.write(`${amountOf('pass') + amountOf('limit')} passed, ${failed} failed, ${amountOf('skip')} skipped\n`);
if (failed > 0) process.exitCode = 1;
