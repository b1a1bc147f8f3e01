import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noTables } from '../../../support/memory/memory-stores.ts';

const repository = join(import.meta.dirname, '../../../..');

/** Opens the dependencies of the text function in a new process, and prints the loaded modules of OpenTelemetry. */
const program = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => { if (url.includes('opentelemetry')) loaded.push(url); return next(url, context); } });
  globalThis.awslambda = { streamifyResponse: (handler) => handler };
  const { dependenciesFromEnvironment } = await import('./lambdas/functions/wiring/from-environment.ts');
  const { createTextHandler } = await import('./lambdas/functions/wiring/text-handler.ts');
  const deps = await dependenciesFromEnvironment(process.env);
  createTextHandler(deps);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await deps.reporting.tracing?.flush(5000);
  console.log(JSON.stringify({ loaded: loaded.length, traced: deps.reporting.tracing !== undefined }));
  process.exit(0);
`;

const loadedWith = (environment: Readonly<Record<string, string>>) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: repository,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      AWS_REGION: 'eu-central-1',
      KEY_PEPPER: 'a pepper for tests',
      ...noTables,
      ...environment,
    },
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
};

test('OPS-19 without an endpoint no module of OpenTelemetry is loaded', () => {
  expect(loadedWith({})).toEqual({ loaded: 0, traced: false });
  const on = loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  expect(on.traced).toBe(true);
  expect(on.loaded).toBeGreaterThan(10);
}, 60_000);
