import { handler } from '../lambdas/functions/video-steps.ts';

/** Stores a small video first, to load all code, and then a large one. */
const [small, large] = process.argv.slice(2);
const MB = 1_024 * 1_024;
const memoryMb = (): number => Math.round(process.memoryUsage.rss() / MB);

await handler({ step: 'store', videoId: small });
const idle = memoryMb();
let peak = idle;
const timer = setInterval(() => {
  peak = Math.max(peak, memoryMb());
}, 5);
const startedAt = performance.now();
await handler({ step: 'store', videoId: large });
clearInterval(timer);
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
console.log(`idle ${idle} MB, peak ${peak} MB, ${peak - idle} MB above idle; ${seconds} s`);
// Exit explicitly, because the clients keep their connections open.
process.exit(0);
