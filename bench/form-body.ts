import { randomBytes } from 'node:crypto';
import { parseFormBody } from '../lambdas/http/form-body.ts';

/**
 * Compares the time to parse a large form with Node's own parser, in alternating rounds: `FORM_MB=18 BENCH_ROUNDS=20
 * npx node bench/form-body.ts`. The gateway's parser does not copy file bytes; Node's parser does.
 */
const megabytes = Number(process.env.FORM_MB ?? 18);
const rounds = Number(process.env.BENCH_ROUNDS ?? 20);

const form = new FormData();
form.append('model', 'gpt-image-2');
form.append('prompt', 'a lighthouse');
for (const name of ['one', 'two', 'three'])
  form.append('image', new Blob([randomBytes((megabytes * 1_024 * 1_024) / 3)], { type: 'image/png' }), `${name}.png`);
const encoded = new Response(form);
const contentType = encoded.headers.get('content-type') ?? '';
const bytes = new Uint8Array(await encoded.arrayBuffer());

const timed = async (run: () => unknown): Promise<number> => {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
};

const ours: number[] = [];
const nodes: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  ours.push(await timed(() => parseFormBody(bytes, contentType)));
  nodes.push(await timed(() => new Response(bytes, { headers: { 'content-type': contentType } }).formData()));
}

const at = (times: number[], share: number): number =>
  [...times].sort((one, other) => one - other)[Math.floor((times.length - 1) * share)] ?? 0;
const shown = (times: number[]): string =>
  `median ${at(times, 0.5).toFixed(1)} ms, slowest ${at(times, 1).toFixed(1)} ms`;
console.log(`${(bytes.length / 1_024 / 1_024).toFixed(1)} MiB in 3 files, ${rounds} rounds`);
console.log(`parseFormBody  ${shown(ours)}`);
console.log(`formData()     ${shown(nodes)}`);
console.log(`ratio of medians ${(at(ours, 0.5) / at(nodes, 0.5)).toFixed(2)}`);
