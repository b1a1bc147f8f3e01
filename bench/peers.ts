import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceBlock } from '../test/clients/guide.ts';
import {
  isPinned,
  measureAdded,
  measureLoad,
  median,
  pinClient,
  plainBody,
  root,
  statOf,
  stopAll,
  streamBody,
  type Target,
  watchOthers,
  withClient,
} from './measure.ts';
import { type Result, type Round, toTable } from './peer-table.ts';
import {
  installLitellm,
  installPortkey,
  litellmVersion,
  type Program,
  portkeyVersion,
  startBareProxy,
  startGateway,
  startLitellm,
  startLocal,
  startPortkey,
  startUpstream,
} from './programs.ts';

/**
 * Compares the gateway with other gateways in front of the same upstream. Installs pinned peers first, and skips a peer
 * that cannot be installed. Measurements of the programs alternate, so that ratios are valid on a busy machine. With
 * `taskset`, the programs have one core, and client and upstream the other. `-- --document` writes the table into
 * `docs/internals/benchmarks.md`. Linux only.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 12);
const WARM_UP_MS = 4_000;
/** Short measurements in many rounds, so that a burst of other load falls on all programs. */
const PLAIN_MS = 1_200;
const STREAM_MS = 1_200;
const ADDED_MS = 600;
/** No round starts later than this after the installation, so that the command takes less than six minutes. */
const LIMIT_MS = 320_000;
let endsAt = Number.POSITIVE_INFINITY;

const folder = mkdtempSync(join(tmpdir(), 'bench-peers-'));

interface Contender {
  readonly id: string;
  readonly title: string;
  /** Returns the folder of a peer. Throws an Error if it cannot be installed. */
  readonly install?: () => Promise<string>;
  /** Throws an Error if the program does not start. */
  readonly start: (upstream: Target, installed: string) => Promise<Program>;
}

const contenders: readonly Contender[] = [
  { id: 'bare', title: 'bare Node proxy', start: startBareProxy },
  { id: 'gateway', title: 'this gateway, in-memory stores', start: (upstream) => startGateway(upstream) },
  {
    id: 'local',
    title: 'this gateway, `npm start`',
    start: (upstream) => startLocal(upstream, join(folder, 'data')),
  },
  { id: 'portkey', title: `Portkey ${portkeyVersion}`, install: installPortkey, start: startPortkey },
  { id: 'litellm', title: `LiteLLM proxy ${litellmVersion}`, install: installLitellm, start: startLitellm },
];

interface Running extends Contender, Program {
  readonly streamProblem?: string;
  readonly rounds: Round[];
}

/** Returns why a program does not stream, or undefined. */
const streamProblemOf = ({ target }: Program): Promise<string | undefined> =>
  withClient(1, (client) => client.call(target, streamBody)).then(
    ({ end }) => (end.trimEnd().endsWith('data: [DONE]') ? undefined : 'no `[DONE]`'),
    (error: Error) => error.message,
  );

/** Contenders for which a step succeeds, with its result. The others are skipped with one line. */
const succeeding = async <Item extends Contender, Result>(
  items: readonly Item[],
  step: (item: Item) => Promise<Result>,
): Promise<readonly (readonly [Item, Result])[]> => {
  const done: (readonly [Item, Result])[] = [];
  for (const item of items) {
    try {
      done.push([item, await step(item)]);
    } catch (error) {
      console.log(`${item.title}: skipped, ${error instanceof Error ? error.message.split('\n')[0] : error}`);
    }
  }
  return done;
};

const installAll = async (): Promise<readonly (Contender & { readonly folder: string })[]> =>
  (await succeeding(contenders, async ({ install }) => install?.() ?? '')).map(([contender, installed]) => ({
    ...contender,
    folder: installed,
  }));

const startAll = async (upstream: Target): Promise<readonly Running[]> => {
  const installed = await installAll();
  endsAt = performance.now() + LIMIT_MS;
  const started = await succeeding(installed, async (contender) => {
    const program = await contender.start(upstream, contender.folder);
    return { ...program, streamProblem: await streamProblemOf(program) };
  });
  return started.map(([contender, { streamProblem, ...program }]) => ({
    ...{ ...contender, ...program, rounds: [] },
    ...(streamProblem ? { streamProblem } : {}),
  }));
};

/** Measures one thing of all programs. The first one differs in each round. */
const inTurn = async <Value>(
  running: readonly Running[],
  round: number,
  measure: (program: Running) => Promise<Value>,
): Promise<ReadonlyMap<Running, Value>> => {
  const values = new Map<Running, Value>();
  const first = round % running.length;
  for (const program of [...running.slice(first), ...running.slice(0, first)])
    values.set(program, await measure(program));
  return values;
};

const measureRound = async (running: readonly Running[], round: number, upstream: Target): Promise<void> => {
  const plain = await inTurn(running, round, ({ pid, target }) => measureLoad(pid, target, plainBody, PLAIN_MS));
  const added = await inTurn(running, round, ({ target }) => measureAdded(upstream, target, plainBody, ADDED_MS));
  const streams = await inTurn(
    running.filter(({ streamProblem }) => streamProblem === undefined),
    round,
    ({ pid, target }) => measureLoad(pid, target, streamBody, STREAM_MS),
  );
  for (const program of running) {
    const stream = streams.get(program);
    program.rounds.push({
      plainUs: plain.get(program)?.cpuUs ?? Number.NaN,
      perSecond: plain.get(program)?.perSecond ?? Number.NaN,
      addedMs: median(added.get(program) ?? []),
      ...(stream ? { streamUs: stream.cpuUs } : {}),
    });
  }
};

const writePage = (text: string): void => {
  const path = join(root, 'docs/internals/benchmarks.md');
  writeFileSync(path, replaceBlock(readFileSync(path, 'utf8'), 'peers', text));
};

const measureAll = async (): Promise<{ readonly results: readonly Result[]; readonly others: number }> => {
  const upstream = await startUpstream();
  const running = await startAll(upstream.target);
  pinClient();
  for (const { pid, target, streamProblem } of running) {
    await measureLoad(pid, target, plainBody, WARM_UP_MS);
    if (streamProblem === undefined) await measureLoad(pid, target, streamBody, WARM_UP_MS);
  }
  const others = watchOthers([upstream, ...running].map(({ pid }) => pid));
  for (let round = 0; round < ROUNDS && performance.now() < endsAt; round += 1)
    await measureRound(running, round, upstream.target);
  const results = running.map(({ id, title, rounds, pid, streamProblem }) => ({
    ...{ id, title, rounds, rssMb: statOf(pid).rssMb },
    ...(streamProblem ? { streamProblem } : {}),
  }));
  return { results, others: others() };
};

const captionOf = (others: number, rounds: number): string => {
  const date = new Date().toISOString().slice(0, 10);
  const cores = `${cpus().length} cores${isPinned ? '' : ' (not pinned: no taskset)'}`;
  const machine = `${cores}, of which other processes used ${Math.round(others * 100)} %, Node ${process.versions.node}`;
  return `\`npm run bench:peers\` on ${date}: ${machine}, medians of ${rounds} rounds.`;
};

try {
  if (process.platform !== 'linux') throw new Error('bench:peers reads CPU time from /proc. Run it on Linux.');
  const { results, others } = await measureAll();
  const text = `${toTable(results, 'portkey')}\n\n${captionOf(others, results[0]?.rounds.length ?? 0)}`;
  console.log(`\n${text}`);
  if (process.argv.includes('--document')) {
    if (results.length < contenders.length) throw new Error('The page needs every peer. Install the skipped peers.');
    writePage(text);
  }
} finally {
  stopAll();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
