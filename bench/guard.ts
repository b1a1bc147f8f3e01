import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { doubtOf, judgePairs, type Summary, summarize } from './judge-pairs.ts';
import {
  isPinned,
  measureLoads,
  pinClient,
  plainBody,
  root,
  stopAll,
  streamBody,
  watchOthers,
  withClient,
} from './measure.ts';
import { startBareProxy, startGateway, startUpstream } from './programs.ts';

/**
 * Compares the gateway's CPU time per request, on in-memory stores, with the last release. The measure is the ratio to
 * the bare proxy's CPU time in the same pair, because ratios are valid on other machines. Exits with 1 if the median
 * ratio is 15 % worse. Prints a line that starts with `skipped` where the machine or the pairs allow no judgement.
 * `-- --store` writes the ratios, which a release does.
 */
const PAIRS = Number(process.env.BENCH_PAIRS ?? 15);
const MS = 1_600;
const WARM_UP = { plain: 20_000, stream: 2_000 } as const;
/** No pair starts later than this, so that the command takes less than five minutes. */
const LIMITS_MS = { plain: 140_000, stream: 250_000 } as const;

const path = join(import.meta.dirname, 'guard.json');
const bodies = { plain: plainBody, stream: streamBody } as const;
type Kind = keyof typeof bodies;
const kinds = Object.keys(bodies) as readonly Kind[];
type Summaries = Readonly<Record<Kind, Summary>>;

/** Contents of `guard.json`. */
interface Released extends Summaries {
  readonly version: string;
  readonly date: string;
}

const measurePairs = async (): Promise<Summaries> => {
  const upstream = await startUpstream();
  const [gateway, bare] = [await startGateway(upstream.target), await startBareProxy(upstream.target)];
  pinClient();
  const others = watchOthers([upstream, gateway, bare].map(({ pid }) => pid));
  const ratios: Record<Kind, number[]> = { plain: [], stream: [] };
  for (const kind of kinds) {
    for (const { target } of [gateway, bare])
      await withClient(16, (client) => client.load(target, bodies[kind], WARM_UP[kind]));
    for (let pair = 0; pair < PAIRS && performance.now() < LIMITS_MS[kind]; pair += 1) {
      // The order alternates, so that a slow drift of the machine favors neither program.
      const isFirst = pair % 2 === 0;
      const loads = await measureLoads(isFirst ? [gateway, bare] : [bare, gateway], bodies[kind], MS);
      const [own, other] = isFirst ? loads : loads.toReversed();
      ratios[kind].push((own?.cpuUs ?? Number.NaN) / (other?.cpuUs ?? Number.NaN));
    }
  }
  const share = others();
  return { plain: summarize(ratios.plain, share), stream: summarize(ratios.stream, share) };
};

/** Returns why this machine cannot measure, or undefined. */
const obstacle = (): string | undefined => {
  if (process.platform !== 'linux') return 'CPU time comes from /proc, which needs Linux';
  if (!isPinned) return 'taskset is missing';
  return availableParallelism() < 2 ? 'two cores are needed' : undefined;
};

/** Stores the ratios, also those that allow no judgement: the next run is skipped then. */
const store = (summaries: Summaries): void => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const released: Released = { version, date: new Date().toISOString().slice(0, 10), ...summaries };
  const rounded = (_name: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toFixed(3)) : value;
  writeFileSync(path, `${JSON.stringify(released, rounded, 2)}\n`);
  for (const kind of kinds) {
    const doubt = doubtOf(summaries[kind]);
    console.log(`stored ${kind}${doubt === undefined ? '' : `, but ${doubt}. Repeat on an idle machine.`}`);
  }
};

const judge = (summaries: Summaries): void => {
  const released: Released = JSON.parse(readFileSync(path, 'utf8'));
  for (const kind of kinds) {
    const { verdict, reason } = judgePairs(summaries[kind], released[kind]);
    console.log(`${verdict} ${kind}: ${reason}`);
    if (verdict === 'slower') process.exitCode = 1;
  }
};

const problem = obstacle();
if (problem !== undefined) console.log(`skipped: ${problem}`);
else {
  try {
    const summaries = await measurePairs();
    for (const kind of kinds) {
      const { ratio, spread, pairs, others } = summaries[kind];
      const figures = `spread ${spread.toFixed(2)}, ${pairs} pairs, others ${others.toFixed(2)} of the cores`;
      console.log(`${kind}: ${ratio.toFixed(2)} times the CPU of the bare proxy, ${figures}`);
    }
    if (process.argv.includes('--store')) store(summaries);
    else judge(summaries);
  } finally {
    stopAll();
  }
}
