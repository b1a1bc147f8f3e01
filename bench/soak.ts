import { soak } from '../test/support/soak-run.ts';
import { judgeSoak } from '../test/support/soak-verdict.ts';

/**
 * A mixed load on the real program, with a vendor that fails at times and a store that goes away in the middle. Exit code 1 when
 * something was not as it should be. `SOAK_REQUESTS=300000 SOAK_OUTAGE_SECONDS=30 npx node bench/soak.ts`
 */
const requests = Number(process.env.SOAK_REQUESTS ?? 6_000);
const outageSeconds = Number(process.env.SOAK_OUTAGE_SECONDS ?? 30);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const COMPLAINTS_SHOWN = 20;

console.log(
  `${requests} calls; once more: SEED=${seed} SOAK_REQUESTS=${requests} SOAK_OUTAGE_SECONDS=${outageSeconds} npx node bench/soak.ts`,
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
console.log(complaints.length === 0 ? 'as it should be' : `${complaints.length} complaints`);
process.exitCode = complaints.length === 0 ? 0 : 1;
