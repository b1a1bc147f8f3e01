import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import {
  type EventFunctionName,
  eventFunctionNames,
  type FunctionName,
  functionNames,
  functions,
  webFunctionNames,
} from '../../lib/functions.ts';
import { freePort } from '../../lib/local/free-port.ts';
import { nameOf, newApp, ofType, synthesize } from './synthesize.ts';

/** What a start of a function that answers clients has to read. */
const START_BYTES_MAX = 1_000_000;

const app = newApp({ bundling: true });
const { api, video } = synthesize('prod', app);
/** Nothing above it brings packages: an asset that only loads in the repository is broken. */
const away = mkdtempSync(join(tmpdir(), 'gateway-assets-'));

const assetOf = (name: FunctionName): string => {
  const all = [api, video].flatMap((stack) => ofType(stack, 'AWS::Lambda::Function'));
  const found = all.find((resource) => nameOf(resource) === `${name}/function`);
  return join(app.outdir, found?.Metadata['aws:asset:path'] ?? copiedAsset(name));
};

/** The code of a Web Function is copied by its content. */
const copiedAsset = (name: FunctionName): string => {
  const copies = ofType(api, 'Custom::S3ObjectCopy').filter((resource) => nameOf(resource).startsWith(`${name}/`));
  return `asset.${z.object({ ContentHash: z.string() }).parse(copies[0]?.Properties).ContentHash}`;
};

beforeAll(() => {
  for (let folder = away; folder !== dirname(folder); folder = dirname(folder))
    expect(existsSync(join(folder, 'node_modules')), folder).toBe(false);
  for (const name of functionNames) cpSync(assetOf(name), join(away, name), { recursive: true });
  cpSync(join(import.meta.dirname, 'load-asset.mts'), join(away, 'load-asset.mts'));
});

afterAll(() => rmSync(away, { recursive: true, force: true }));

const resultSchema = z.object({
  node: z.string(),
  handler: z.string(),
  prelude: z.object({ statusCode: z.int() }).optional(),
  body: z.string(),
});

const tables = {
  ACCOUNTS_TABLE: 'a',
  KEYS_TABLE: 'k',
  COUNTERS_TABLE: 'c',
  IDEMPOTENCY_TABLE: 'i',
  VIDEOS_TABLE: 'v',
  MEDIA_BUCKET: 'm',
  MEDIA_URL: 'https://media.example',
};
const pepper = 'a-pepper-for-this-test-only';

const load = async (name: EventFunctionName, environment: Readonly<Record<string, string>>, event?: object) => {
  const child = spawn(
    process.execPath,
    [join(away, 'load-asset.mts'), `./${name}/index.mjs`, ...(event ? [JSON.stringify(event)] : [])],
    { cwd: away, env: { AWS_REGION: 'eu-central-1', ...tables, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) throw new Error(`the asset ${name} does not load:\n${errors}`);
  return resultSchema.parse(JSON.parse(last));
};

test.each(eventFunctionNames)(
  'OPS-1 the asset of %s loads under Node 24 with nothing installed around it',
  async (name) => {
    const loaded = await load(name, { KEY_PEPPER: pepper });
    expect(loaded.node).toMatch(/^24\./);
    expect(loaded.handler).toBe('function');
  },
);

/** Until the server of a child is there. */
const answerOf = async (url: string, child: ChildProcess): Promise<Response> => {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer) return answer;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

test.each(webFunctionNames)(
  'OPS-1 the asset of %s is a server under Node 24 with nothing installed around it, where Lambda wants it',
  async (name) => {
    const port = await freePort();
    const child = spawn(process.execPath, [join(away, name, 'index.mjs')], {
      cwd: away,
      env: {
        AWS_REGION: 'eu-central-1',
        AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${port}`,
        DYNAMODB_ENDPOINT: 'http://127.0.0.1:9',
        KEY_PEPPER: pepper,
        ...tables,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const errors = text(child.stderr);
    try {
      const answer = await answerOf(`http://127.0.0.1:${port}/v1/videos/none/content`, child);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: { code: 'missing_api_key' } });
    } finally {
      child.kill();
    }
    expect(await errors).toBe('');
  },
);

const get = (rawPath: string) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath,
  rawQueryString: '',
  headers: { host: 'example.com' },
  requestContext: {
    http: { method: 'GET', path: rawPath, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'test' },
  },
  isBase64Encoded: false,
});

test('GEN-10 the asset of catalog answers GET /health through a response stream', async () => {
  const { prelude, body } = await load('catalog', { KEY_PEPPER: pepper }, get('/health'));
  expect(prelude?.statusCode).toBe(200);
  expect(JSON.parse(body)).toEqual({ status: 'ok' });
});

/** As much of Secrets Manager as reading a value needs. */
const startSecrets = async (values: Readonly<Record<string, string>>) => {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { SecretId } = z.object({ SecretId: z.string() }).parse(JSON.parse(await text(request)));
    asked.push(SecretId);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify({ SecretString: values[SecretId] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { asked, endpoint: `http://127.0.0.1:${address.port}`, stop: () => server.close() };
};

test('the asset of text reads its secrets from Secrets Manager', async () => {
  const secrets = await startSecrets({ pepper, vendors: '{"drawn":"nothing"}' });
  try {
    const loaded = await load('text', {
      KEY_PEPPER_SECRET: 'pepper',
      PROVIDER_KEYS_SECRET: 'vendors',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    });
    expect(loaded.handler).toBe('function');
    expect(secrets.asked).toEqual(['pepper', 'vendors']);
  } finally {
    secrets.stop();
  }
});

const reportSchema = z.object({
  outputs: z.record(
    z.string(),
    z.object({
      bytes: z.int(),
      inputs: z.record(z.string(), z.unknown()),
      imports: z.array(z.object({ path: z.string(), kind: z.string(), external: z.boolean().default(false) })),
    }),
  ),
});

/** The file that a start loads, and all that comes with it whether needed or not. */
const readAtStart = (name: FunctionName) => {
  const { outputs } = reportSchema.parse(readReport(name));
  const waiting = Object.keys(outputs).filter((file) => file.endsWith('/index.mjs'));
  const found = new Map<string, (typeof outputs)[string]>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const output = outputs[file];
    if (!output || found.has(file)) continue;
    found.set(file, output);
    for (const { path, kind, external } of output.imports)
      if (kind === 'import-statement' && !external) waiting.push(path);
  }
  return [...found.values()];
};

test.each(functionNames)('the clients that %s seldom needs come in files of their own', (name) => {
  const read = readAtStart(name).flatMap(({ inputs }) => Object.keys(inputs));
  expect(read.some((file) => file.includes('/client-dynamodb/'))).toBe(true);
  expect(read.filter((file) => /\/(client-(secrets-manager|s3|sfn)|lib-storage)\//.test(file))).toEqual([]);
});

const readReport = (name: FunctionName): unknown =>
  JSON.parse(readFileSync(join(app.outdir, 'bundles', `${name}.json`), 'utf8'));

test.each(functionNames)('the bundle of %s holds nothing of CDK, of `lib` or of the tests', (name) => {
  const { inputs } = z.object({ inputs: z.record(z.string(), z.unknown()) }).parse(readReport(name));
  const files = Object.keys(inputs);
  expect(files).toContain(functions[name].entry);
  const strays = files.filter((file) =>
    /(^|\/)node_modules\/(aws-cdk|constructs|esbuild|aws-local-stepfunctions)|^(lib|test|bin)\//.test(file),
  );
  expect(strays).toEqual([]);
});

test.each(['text', 'images', 'audio'] as const)(
  'what a start of %s reads stays under 1,000 kB, and its asset holds nothing but modules',
  (name) => {
    const files = readdirSync(assetOf(name), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => !file.endsWith('.mjs'))).toEqual([]);
    const bytes = readAtStart(name).reduce((sum, output) => sum + output.bytes, 0);
    console.log(`${name}: ${Math.round(bytes / 1_000)} kB`);
    expect(bytes).toBeGreaterThan(START_BYTES_MAX / 2);
    expect(bytes).toBeLessThan(START_BYTES_MAX);
  },
);

test.each(['bot', 'app', 'notices'] as const)('what a start of %s reads stays under 1,000 kB', (name) => {
  const bytes = readAtStart(name).reduce((sum, output) => sum + output.bytes, 0);
  console.log(`${name}: ${Math.round(bytes / 1_000)} kB`);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(START_BYTES_MAX);
});

/** Its build for Node brings an HTTP client of its own, and four times the bytes. */
test('KEY-1 the functions that speak with the messenger have the library in its build for the web, and only they', () => {
  const libraryOf = (name: FunctionName) =>
    readAtStart(name)
      .flatMap(({ inputs }) => Object.keys(inputs))
      .filter((file) => /\/node_modules\/(grammy|node-fetch|@grammyjs)\//.test(`/${file}`));
  for (const name of functionNames) {
    const expected = name === 'bot' || name === 'notices' ? ['node_modules/grammy/out/web.mjs'] : [];
    expect(libraryOf(name), name).toEqual(expected);
  }
});

test('CommonJS packages find `require` in every asset', () => {
  for (const name of functionNames)
    expect(readFileSync(join(assetOf(name), 'index.mjs'), 'utf8').slice(0, 200), name).toContain(
      'const require=createRequire(import.meta.url);',
    );
});
