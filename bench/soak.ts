import { soak } from '../test/support/soak-run.ts';
import { judgeSoak } from '../test/support/soak-verdict.ts';

/**
 * Sends mixed requests to the real program, with a provider that sometimes fails and a store outage in the middle.
 * Exits with 1 if an expectation fails. `SOAK_REQUESTS=300000 SOAK_OUTAGE_SECONDS=30 npx node bench/soak.ts`
 */
const requests = Number(process.env.SOAK_REQUESTS ?? 6_000);
const outageSeconds = Number(process.env.SOAK_OUTAGE_SECONDS ?? 30);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const COMPLAINTS_SHOWN = 20;

console.log(
  `${requests} calls; repeat with SEED=${seed} SOAK_REQUESTS=${requests} SOAK_OUTAGE_SECONDS=${outageSeconds} npx node bench/soak.ts`,
);
const result = await soak({
  requests,
  outageSeconds,
  auditEverySeconds: 10,
  holdGraceSeconds: 90,
  seed,
  say: (line) => console.log(line),
});
const { complaints, table } = judgeSoak(result);
console.log(table);
for (const complaint of complaints.slice(0, COMPLAINTS_SHOWN)) console.log(complaint);
console.log(complaints.length === 0 ? 'all expectations met' : `${complaints.length} failed expectations`);
process.exitCode = complaints.length === 0 ? 0 : 1;
