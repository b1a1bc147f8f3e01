import { spawnSync } from 'node:child_process';

/** `npm run test:full`: `npm test` and then the long suites, each to its end whatever became of the others. Hours on two cores. */
interface Suite {
  readonly title: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const vitest = (project: string, file: string) => ['npm', 'exec', '--', 'vitest', 'run', '--project', project, file];
const repeated = (title: string, project: string, file: string, times: number): Suite => ({
  title,
  command: vitest(project, file),
  environment: { RUNS: String(times) },
});

/** What a suite ends with that cannot be run on this machine. */
const SKIPPED = 77;

const suites: readonly Suite[] = [
  { title: 'style, types and behaviour', command: ['npm', 'test'] },
  repeated('1,000,000 histories of a ledger', 'unit', 'test/lambdas/core/ledger/histories.test.ts', 334),
  repeated('10,000 histories on the database', 'integration', 'test/contracts/ledger-histories.contract.test.ts', 20),
  repeated('10,000 histories of circuits', 'unit', 'test/lambdas/core/circuit/histories.test.ts', 10),
  repeated('3,000 histories of keys', 'unit', 'test/lambdas/core/accounts/key-histories.test.ts', 10),
  repeated('100,000 streams cut anywhere', 'unit', 'test/lambdas/providers/event-frames-random.test.ts', 20),
  repeated('2,000 histories of videos', 'unit', 'test/lambdas/core/videos/video-histories.test.ts', 10),
  repeated('1,000 rounds of processes killed', 'service', 'test/service/kill-anywhere.test.ts', 10),
  repeated('100 at once on 50 keys', 'service', 'test/service/idempotency.test.ts', 10),
  repeated('20 times parallel funds', 'service', 'test/service/parallel-funds.test.ts', 20),
  repeated('30 owners frozen past their lease', 'service', 'test/service/idempotency-takeover.test.ts', 10),
  repeated('circuits of three processes, ten times the calls', 'service', 'test/service/circuit-processes.test.ts', 10),
  repeated('104 bodies of 20 MiB at once', 'service', 'test/service/hostile/body-budget.test.ts', 13),
  {
    title: '50,000 hostile requests',
    command: vitest('service', 'test/service/hostile/fuzz'),
    environment: { FUZZ_RUNS: '50000' },
  },
  { title: "under AWS's own runtime client", command: ['node', 'test/runtime-client/run.ts'] },
  { title: 'every interleaving of the money', command: ['node', 'test/search/run.ts'] },
  { title: 'every clause taken out', command: ['node', 'test/search/run.ts', '--clauses'] },
  { title: 'mistakes seeded by hand', command: ['node', 'test/mutants/run.ts'] },
  { title: '6,000 requests and an outage', command: ['node', 'bench/soak.ts'] },
];

type Outcome = 'passed' | 'FAILED' | 'skipped';

const outcomeOf = (status: number | null): Outcome => {
  if (status === SKIPPED) return 'skipped';
  return status === 0 ? 'passed' : 'FAILED';
};

const results = suites.map(({ title, command: [program = '', ...args], environment }) => {
  process.stdout.write(`\n== ${title}: ${[program, ...args].join(' ')}\n`);
  const startedAt = Date.now();
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const outcome = outcomeOf(status);
  return { title, outcome, minutes: ((Date.now() - startedAt) / 60_000).toFixed(1) };
});

process.stdout.write('\n');
for (const { title, outcome, minutes } of results)
  process.stdout.write(`${outcome.padEnd(7)} ${minutes.padStart(6)} min  ${title}\n`);
const amountOf = (wanted: Outcome): number => results.filter(({ outcome }) => outcome === wanted).length;
process.stdout.write(`${amountOf('passed')} passed, ${amountOf('FAILED')} failed, ${amountOf('skipped')} skipped\n`);
if (amountOf('FAILED') > 0) process.exitCode = 1;
