import { globSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSimulator } from '../local/simulators/server.ts';
import { startGateway } from '../test/support/gateway.ts';

/**
 * Counts the files of `lambdas` that run for one streamed chat completion after a warm-up. The gateway runs in this
 * process, on embedded stores, with a simulated provider. A file counts if V8 calls at least one of its functions.
 */
const WARM_UP = 5;
const MODEL = 'gpt-4.1-mini';

const root = join(import.meta.dirname, '..');
const simulator = await startSimulator();
const gateway = await startGateway({ vendorUrl: simulator.url });

/** Resolves when the charge of the request is recorded. */
const request = async (): Promise<void> => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}` },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Say hello' }], stream: true }),
  });
  const text = await response.text();
  if (!text.includes('data: [DONE]')) throw new Error(`status ${response.status}: ${text}`);
  await gateway.untilSettled();
};

const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (let count = 0; count < WARM_UP; count += 1) await request();
// Each call resets the counts.
await profiler.post('Profiler.takePreciseCoverage');
await request();
const { result } = await profiler.post('Profiler.takePreciseCoverage');
profiler.disconnect();
await gateway.stop();
await simulator.stop();

const ran = result
  .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
  .filter(({ url }) => url.startsWith('file:'))
  .map(({ url }) =>
    fileURLToPath(url)
      .slice(root.length + 1)
      .replaceAll('\\', '/'),
  )
  .filter((path) => path.startsWith('lambdas/'))
  .sort();
const total = globSync('lambdas/**/*.ts', { cwd: root }).length;
process.stdout.write(`${ran.join('\n')}\n\n${ran.length} of ${total} files of lambdas run for one streamed chat\n`);
