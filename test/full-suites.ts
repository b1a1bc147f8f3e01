import { globSync } from 'node:fs';
import { join } from 'node:path';
import { projectOfFile } from './tiers.ts';

/** One command of `npm run test:full`. */
export interface Suite {
  readonly title: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const repository = join(import.meta.dirname, '..');

/** Runs the complete form of each test file that the pattern matches. The tier is not part of the pattern. */
const vitest = (pattern: string): readonly string[] => {
  const files = globSync(`${pattern}{,.long}.test.ts`, { cwd: repository });
  if (files.length === 0) throw new Error(`${pattern}: no test file matches. Update test/full-suites.ts.`);
  const projects = new Set(files.map((file) => projectOfFile(file, 'long')));
  const options = [...projects].map((project) => `--project=${project}`);
  return ['npm', 'exec', '--', 'vitest', 'run', ...options, ...files];
};

/** A suite of random tests with a multiple of the runs that the long tier makes. */
const repeated = (title: string, pattern: string, times: number): Suite => ({
  title,
  command: vitest(pattern),
  environment: { RUNS: String(times) },
});

export const suites: readonly Suite[] = [
  { title: 'style, types and the quick tier', command: ['npm', 'test'] },
  { title: 'the long tier', command: ['npm', 'run', 'test:long'] },
  repeated('1,000,000 histories of a ledger', 'test/lambdas/core/ledger/ledger-histories', 10),
  repeated('10,000 histories on the database', 'test/contracts/ledger-histories.contract', 20),
  repeated('100,000 histories of circuits', 'test/lambdas/core/circuit/breaker-histories', 10),
  repeated('30,000 histories of keys', 'test/lambdas/core/accounts/keys-histories', 10),
  repeated('100,000 streams cut anywhere', 'test/lambdas/providers/read-stream-random', 5),
  repeated('10,000 histories of videos', 'test/lambdas/core/videos/video-job-histories', 5),
  repeated('1,000 rounds of processes killed', 'test/service/kill-anywhere', 10),
  repeated('100 concurrent requests on each of 50 keys', 'test/service/idempotency', 10),
  repeated('20 rounds of parallel funds', 'test/service/parallel-funds', 20),
  repeated('60 owners paused beyond their lease', 'test/service/idempotency-takeover', 10),
  repeated('circuits of three processes, 4,500 calls', 'test/service/circuit-processes', 10),
  repeated('104 concurrent bodies of 20 MiB', 'test/service/hostile/body-budget', 13),
  repeated('60,000 hostile requests', 'test/service/hostile/fuzz-*', 5),
  { title: 'the runtime client that AWS publishes', command: ['node', 'test/runtime-client/run.ts'] },
  { title: 'every interleaving of the money', command: ['node', 'test/search/run.ts'] },
  { title: 'every clause removed', command: ['node', 'test/search/run.ts', '--clauses'] },
  { title: 'seeded mistakes', command: ['npm', 'run', 'test:mutants'] },
  { title: '6,000 requests and an outage', command: ['node', 'bench/soak.ts'] },
];
