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
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 30);
/** V8 optimizes the code of a gateway during its first 20,000 chats. */
const PLAIN_WARM_UPS = 14;
const STREAM_WARM_UPS = 4;
const WARM_UP_MS = 1_000;
/**
 * Short measurements in many rounds. A neighbor on the same physical core makes all programs up to 1.8 times slower for
 * 5 to 20 s, which is longer than a round.
 */
const LOAD_MS = 400;
const ADDED_MS = 400;
/** No round of a kind starts later than this after its first, so that a slow machine does not take much longer. */
const KIND_MS = 110_000;

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
  const started = await succeeding(installed, async (contender) => {
    const program = await contender.start(upstream, contender.folder);
    return { ...program, streamProblem: await streamProblemOf(program) };
  });
  return started.map(([contender, { streamProblem, ...program }]) => ({
    ...contender,
    ...program,
    ...(streamProblem ? { streamProblem } : {}),
  }));
};

/** Measures one thing of all programs in rounds. The first program and the direction differ from round to round. */
const inRounds = async <Value>(
  running: readonly Running[],
  measure: (program: Running) => Promise<Value>,
): Promise<ReadonlyMap<Running, readonly Value[]>> => {
  const values = new Map<Running, Value[]>(running.map((program) => [program, []]));
  const endsAt = performance.now() + KIND_MS;
  for (let round = 0; round < ROUNDS && performance.now() < endsAt; round += 1) {
    const first = round % running.length;
    const order = [...running.slice(first), ...running.slice(0, first)];
    for (const program of round % 2 === 0 ? order : order.toReversed())
      values.get(program)?.push(await measure(program));
  }
  return values;
};

/** The programs take turns, so that none has a long pause before its first measurement. */
const warmUp = async (running: readonly Running[], body: string, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1)
    for (const program of running) await measureLoad(program, body, WARM_UP_MS);
};

/** Rounds of each program. One kind of request follows the other, because code that served both is slower for either. */
const measureRounds = async (
  running: readonly Running[],
  upstream: Target,
): Promise<ReadonlyMap<Running, readonly Round[]>> => {
  await warmUp(running, plainBody, PLAIN_WARM_UPS);
  const plain = await inRounds(running, (program) => measureLoad(program, plainBody, LOAD_MS));
  const added = await inRounds(running, ({ target }) => measureAdded(upstream, target, plainBody, ADDED_MS));
  const streaming = running.filter(({ streamProblem }) => streamProblem === undefined);
  await warmUp(streaming, streamBody, STREAM_WARM_UPS);
  const streams = await inRounds(streaming, (program) => measureLoad(program, streamBody, LOAD_MS));
  const toRounds = (program: Running): readonly Round[] =>
    (plain.get(program) ?? []).map(({ cpuUs, perSecond }, round) => {
      const [alone, stream] = [added.get(program)?.[round], streams.get(program)?.[round]];
      return {
        ...{ plainUs: cpuUs, perSecond },
        ...(alone ? { addedMs: median(alone) } : {}),
        ...(stream ? { streamUs: stream.cpuUs } : {}),
      };
    });
  return new Map(running.map((program) => [program, toRounds(program)]));
};

const writePage = (text: string): void => {
  const path = join(root, 'docs/internals/benchmarks.md');
  writeFileSync(path, replaceBlock(readFileSync(path, 'utf8'), 'peers', text));
};

const measureAll = async (): Promise<{ readonly results: readonly Result[]; readonly others: number }> => {
  const upstream = await startUpstream();
  const running = await startAll(upstream.target);
  pinClient();
  const others = watchOthers([upstream, ...running].map(({ pid }) => pid));
  const rounds = await measureRounds(running, upstream.target);
  const results = running.map((program) => {
    const { id, title, pid, streamProblem } = program;
    const measured = { id, title, rounds: rounds.get(program) ?? [], rssMb: statOf(pid).rssMb };
    return { ...measured, ...(streamProblem ? { streamProblem } : {}) };
  });
  return { results, others: others() };
};

/** Number of rounds of the figure that was measured least often. */
const fewestRounds = (results: readonly Result[]): number => {
  const [rounds = []] = results.map((result) => result.rounds);
  const counts = [rounds, rounds.filter(({ addedMs }) => addedMs), rounds.filter(({ streamUs }) => streamUs)];
  return Math.min(...counts.map(({ length }) => length).filter((count) => count > 0));
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
  const text = `${toTable(results, 'portkey')}\n\n${captionOf(others, fewestRounds(results))}`;
  console.log(`\n${text}`);
  if (process.argv.includes('--document')) {
    if (results.length < contenders.length) throw new Error('The page needs every peer. Install the skipped peers.');
    writePage(text);
  }
} finally {
  stopAll();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
