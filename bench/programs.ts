import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../lib/constructs/bundled-code.ts';
import { freePort } from '../local/free-port.ts';
import { installFiles, type Pins } from '../test/clients/install.ts';
import {
  CLIENT_CORE,
  launch,
  PROGRAM_CORE,
  root,
  type Started,
  startNode,
  type Target,
  toTarget,
  untilReady,
} from './measure.ts';

/** Programs that the benchmarks measure, each in front of `upstream.ts`. */

export interface Program {
  readonly pid: number;
  readonly target: Target;
}

export const pidOf = ({ child }: Pick<Started, 'child'>): number => child.pid ?? 0;

export const startUpstream = async (): Promise<Program> => {
  const started = await startNode(['bench/upstream.ts'], { core: CLIENT_CORE });
  return { pid: pidOf(started), target: toTarget(started.line) };
};

const env = ({ port }: Target): Record<string, string> => ({ BENCH_UPSTREAM_PORT: String(port) });

export const startBareProxy = async (upstream: Target): Promise<Program> => {
  const started = await startNode(['bench/bare-proxy.ts'], { core: PROGRAM_CORE, env: env(upstream) });
  return { pid: pidOf(started), target: toTarget(started.line) };
};

let bundled: string | undefined;

/**
 * Bundles `gateway.ts` as a deployment bundles a function, and returns the file. In pairs, the bundle needed 10 to 25 %
 * less CPU per chat than the separate modules.
 */
const bundledGateway = (): string => {
  if (bundled !== undefined) return bundled;
  const folder = mkdtempSync(join(tmpdir(), 'bench-gateway-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundle({ entry: 'bench/gateway.ts' }, folder);
  bundled = join(folder, 'index.mjs');
  return bundled;
};

/** The handlers on in-memory stores. `capped` has an API key with a cap. `flags` are options of Node. */
export const startGateway = async (
  upstream: Target,
  more: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
) => {
  const options = { core: PROGRAM_CORE, env: { ...env(upstream), ...more } };
  const started = await startNode([...flags, bundledGateway()], options);
  const [port = '', key, cappedKey] = started.line.split(' ');
  return { started, pid: pidOf(started), target: toTarget(port, key), capped: toTarget(port, cappedKey) };
};

const many = '1000000';
const limits = {
  ...{ LIMIT_KEY_PER_SECOND: many, LIMIT_KEY_BURST: many },
  ...{ LIMIT_ADDRESS_PER_SECOND: many, LIMIT_ADDRESS_BURST: many },
};

/** Arguments of Node in `npm start`. */
const startArguments = (): readonly string[] => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return String(scripts.start).split(' ').slice(1);
};

/** Limits of the heap in `npm start`. */
export const startFlags = (): readonly string[] => startArguments().filter((word) => word.startsWith('--'));

/** `npm start` with its data in `folder`. */
export const startLocal = async (upstream: Target, folder: string) => {
  const args = startArguments();
  const settings = {
    ...{ PORT: '0', DATA_DIR: folder, LOCAL_BALANCE_USD: '100000', ...limits },
    ...{ OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1` },
  };
  const started = await startNode(args, { core: PROGRAM_CORE, env: settings }, /^ready /);
  const { port } = new URL(started.line.slice('ready '.length));
  const key = readFileSync(join(folder, 'secrets/api-key'), 'utf8');
  return { started, pid: pidOf(started), target: toTarget(port, key) };
};

const pin = (file: string): string => join(import.meta.dirname, 'peers', file);

/** Version of a peer in its pins, such as `1.2.3`. */
const pinned = (file: string, pattern: RegExp): string => pattern.exec(readFileSync(pin(file), 'utf8'))?.[1] ?? '';
export const portkeyVersion = pinned('package.json', /"@portkey-ai\/gateway": "(.+)"/);
export const litellmVersion = pinned('requirements.txt', /==(\S+)/);

/** Limit of the installation of a peer, which may download 200 MB. */
const INSTALL_MS = 1_200_000;
const READY_MS = 180_000;

/** Installs a peer, unless it is installed. Returns its folder. Throws an InstallError. */
const install = (name: string, kind: Pins['kind'], file: string): Promise<string> =>
  installFiles(
    { kind, name, files: [pin(file)], limitMs: INSTALL_MS },
    join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'model-gateway-peers'),
  );

export const installPortkey = (): Promise<string> => install('portkey', 'npm', 'package.json');
export const installLitellm = (): Promise<string> => install('litellm', 'venv', 'requirements.txt');

/** Portkey reads the provider from headers. */
export const startPortkey = async (upstream: Target, folder: string): Promise<Program> => {
  const port = await freePort();
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = launch([process.execPath, program, `--port=${port}`, '--headless'], {
    core: PROGRAM_CORE,
    cwd: folder,
    env: { NODE_ENV: 'production' },
  });
  const target = toTarget(port, 'bench', {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstream.port}/v1`,
  });
  await untilReady(child, target, READY_MS);
  return { pid: pidOf({ child }), target };
};

/** One worker without a database, which checks the master key. */
export const startLitellm = async (upstream: Target, folder: string): Promise<Program> => {
  const port = await freePort();
  const masterKey = `sk-${randomBytes(32).toString('hex')}`;
  const options = [
    '--config',
    pin('litellm.yaml'),
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--num_workers',
    '1',
  ];
  const child = launch([join(folder, 'venv/bin/python'), join(folder, 'venv/bin/litellm'), ...options], {
    core: PROGRAM_CORE,
    cwd: folder,
    env: {
      LITELLM_MASTER_KEY: masterKey,
      // Without it, LiteLLM downloads prices at the start.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      BENCH_UPSTREAM_URL: `http://127.0.0.1:${upstream.port}/v1`,
      NO_PROXY: '127.0.0.1',
    },
  });
  const target = toTarget(port, masterKey);
  await untilReady(child, target, READY_MS);
  return { pid: pidOf({ child }), target };
};
