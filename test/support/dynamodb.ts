import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClients } from '../../lambdas/functions/wiring/clients.ts';
import { createTables, type TableNames } from '../../local/create-tables.ts';
import { freePort } from '../../local/free-port.ts';

export type TestDynamodb = { readonly endpoint: string; stop(): Promise<void> };

/** Tables of one suite, on the engine that all suites of this process share. They end with the process. */
export interface TestTables {
  readonly endpoint: string;
  readonly names: TableNames;
  /** Clients as the functions use them, but without time limits, so that no call fails on a busy machine. */
  readonly clients: ReturnType<typeof createClients>;
}

const binary = findBinary();
/** URL of another engine, such as DynamoDB Local. Each suite creates its own tables there. */
const other = process.env.TEST_DYNAMODB_ENDPOINT;

/** Whether an engine exists for this platform. Suites on the database are skipped without one. */
export const hasDynamodb = other !== undefined || binary !== undefined;

/** Returns the subject that runs on the database, or none on a platform without an engine. */
export const onDatabase = <Subject>(subject: Subject): readonly Subject[] => (hasDynamodb ? [subject] : []);

/** Starts a separate engine with every table, empty and under its logical name. The caller stops it. */
export async function startTestDynamodb(): Promise<TestDynamodb> {
  const engine = await startEngine();
  await createTables(engine.endpoint);
  return engine;
}

let shared: Promise<Omit<TestTables, 'names'>> | undefined;
let suites = 0;

/** Creates tables for one suite. The caller has nothing to stop. */
export async function openTestTables(): Promise<TestTables> {
  shared ??= startEngine().then(({ endpoint }) => ({ endpoint, clients: createTestClients(endpoint) }));
  const { endpoint, clients } = await shared;
  suites += 1;
  const prefix = `suite-${process.pid}-${suites}`;
  const names = {
    accounts: `${prefix}-accounts`,
    keys: `${prefix}-keys`,
    idempotency: `${prefix}-idempotency`,
    counters: `${prefix}-counters`,
    videos: `${prefix}-videos`,
  };
  await createTables(endpoint, names);
  return { endpoint, clients, names };
}

interface TimeLimits {
  updateHttpClientConfig(key: 'requestTimeout' | 'connectionTimeout', value: number): void;
}

const hasTimeLimits = (handler: object): handler is TimeLimits => 'updateHttpClientConfig' in handler;

export const createTestClients = (endpoint: string): TestTables['clients'] => {
  const clients = createClients({ endpoint, region: 'us-east-1' });
  for (const { config } of [clients.once, clients.repeating]) {
    const requestHandler: object = config.requestHandler;
    if (!hasTimeLimits(requestHandler)) throw new Error('the client has no time limits to remove');
    requestHandler.updateHttpClientConfig('requestTimeout', 0);
    requestHandler.updateHttpClientConfig('connectionTimeout', 0);
  }
  return clients;
};

/**
 * Stops the engine when the standard input closes. That happens when this process ends for any reason, so no engine
 * outlives it. The engine keeps its data in memory and leaves no file.
 */
const script = `exec 3<&0; "$0" "$@" & engine=$!; { read -r _; kill $engine; } <&3 & wait $engine; kill $! 2>/dev/null`;
const portAttempts = 3;

async function startEngine(): Promise<TestDynamodb> {
  if (other !== undefined) return { endpoint: other, stop: async () => undefined };
  if (binary === undefined) throw new Error('no engine for this platform');
  for (let attempt = 1; attempt <= portAttempts; attempt += 1) {
    const port = await freePort();
    const endpoint = `http://127.0.0.1:${port}`;
    const args = ['-c', script, binary, '--host', '127.0.0.1', '--port', String(port)];
    const child = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    // The engine ends immediately if another program has taken the port meanwhile.
    if (!(await isReady(child, endpoint))) continue;
    child.unref();
    return {
      endpoint,
      stop: () => {
        child.ref();
        child.stdin.end();
        return gone;
      },
    };
  }
  throw new Error(`the engine did not start ${portAttempts} times`);
}

async function isReady(child: ChildProcess, endpoint: string): Promise<boolean> {
  for (;;) {
    // Any HTTP status proves that the engine listens.
    const isListening = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (child.exitCode !== null || child.signalCode !== null) return false;
    if (isListening) return true;
    await sleep(5);
  }
}

function findBinary(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')), 'dynoxide');
  } catch {
    return undefined;
  }
}
