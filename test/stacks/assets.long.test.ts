import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { bundling } from '../../lib/constructs/bundled-code.ts';
import { functionsOf } from '../../lib/environment-schema.ts';
import { environments } from '../../lib/environments.ts';
import {
  eventFunctionNames,
  type FunctionName,
  functionNames,
  functions,
  type WebFunctionName,
  webFunctionNames,
} from '../../lib/functions.ts';
import { readAtStart, readReport } from './bundle-report.ts';
import { runAsset, serveAsset } from './run-asset.ts';
import { startSecrets } from './secrets-emulator.ts';
import { environmentOf, nameOf, newApp, ofType, readGateway } from './synthesize.ts';

/**
 * Largest allowed code in bytes: what a function loads at its start, and everything including what it loads on demand.
 */
const START_BYTES_MAX = 1_050_000;
const ASSET_BYTES_MAX = 2_000_000;
/** Size of the codec of images. Only functions that create images contain it, and none loads it at its start. */
const CODEC_BYTES_MAX = 2_200_000;

const app = newApp({ bundling: true });
const { api, video } = readGateway(app, 'prod', environmentOf('prod', 'with usage events'));
/** Temporary folder without packages above it, where an asset that only loads inside the repository fails. */
const away = mkdtempSync(join(tmpdir(), 'gateway-assets-'));

const assetOf = (name: FunctionName): string => {
  const all = [api, video].flatMap((stack) => ofType(stack, 'AWS::Lambda::Function'));
  const found = all.find((resource) => nameOf(resource) === `${name}/function`);
  return join(app.outdir, basename(found?.Metadata['aws:asset:path'] ?? copiedAsset(name)));
};

/** Returns the asset of a Web Function's code, which is copied by its content. */
const copiedAsset = (name: FunctionName): string => {
  const copies = ofType(api, 'Custom::S3ObjectCopy').filter((resource) => nameOf(resource).startsWith(`${name}/`));
  return `asset.${z.object({ ContentHash: z.string() }).parse(copies[0]?.Properties).ContentHash}`;
};

/**
 * Name of the function that serves files behind API Gateway, called with events. All other functions are the same as
 * behind the edge.
 */
const CONTENT_BY_EVENTS = 'content-by-events';

beforeAll(() => {
  const { events } = functionsOf({ ...environments.prod, frontDoor: 'api-gateway' });
  const content = events.find(({ name }) => name === 'content');
  const { bundling: made } = bundling(CONTENT_BY_EVENTS, content?.description ?? { entry: '' });
  if (!made?.local?.tryBundle(join(away, CONTENT_BY_EVENTS), { image: made.image })) throw new Error('no bundle');
  for (let folder = away; folder !== dirname(folder); folder = dirname(folder))
    expect(existsSync(join(folder, 'node_modules')), folder).toBe(false);
  for (const name of functionNames) cpSync(assetOf(name), join(away, name), { recursive: true });
  cpSync(join(import.meta.dirname, 'load-asset.mts'), join(away, 'load-asset.mts'));
});

const pepper = 'a-pepper-for-this-test-only';

const load = (name: string, environment: Readonly<Record<string, string>>, event?: object) =>
  runAsset(away, { name, environment, event });

test.each([...eventFunctionNames, CONTENT_BY_EVENTS])(
  'OPS-1 the asset of %s loads under Node 24 without installed packages',
  async (name) => {
    const loaded = await load(name, { KEY_PEPPER: pepper, USAGE_EVENTS_BUS: 'usage' });
    expect(loaded.node).toMatch(/^24\./);
    expect(loaded.handler).toBe('function');
  },
);

/** One route of every handler in each Web Function. */
const served: Readonly<Record<WebFunctionName, readonly (readonly [method: string, path: string])[]>> = {
  content: [['GET', '/v1/videos/none/content']],
  inference: [
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/images/generations'],
    ['POST', '/v1/audio/speech'],
    ['GET', '/v1/videos'],
  ],
};

const serve = (
  name: WebFunctionName,
  environment: Readonly<Record<string, string>>,
  work: (ask: (method: string, path: string) => Promise<Response>) => Promise<void>,
) => serveAsset(away, { name, environment }, work);

test.each(webFunctionNames)(
  'OPS-1 the asset of %s serves where Lambda expects it, without installed packages',
  (name) =>
    serve(name, { KEY_PEPPER: pepper }, async (answer) => {
      for (const [method, path] of served[name]) {
        const { status, json } = await toRead(answer(method, path));
        expect([path, status]).toEqual([path, 401]);
        expect(json).toMatchObject({ error: { code: 'missing_api_key' } });
      }
    }),
);

test('REF-1 KEY-4 the asset of content serves the mini app and the reference from its code', () =>
  serve('content', { KEY_PEPPER: pepper }, async (answer) => {
    const reference = ['/api-reference', '/api-reference/openapi.json', '/api-reference/guides/keys', '/llms.txt'];
    for (const path of ['/app', '/app/assets/main.js', '/api-reference/routes/health', ...reference]) {
      const served = await answer('GET', path);
      expect([path, served.status]).toEqual([path, 200]);
      expect((await served.text()).length, path).toBeGreaterThan(500);
    }
    expect((await answer('GET', '/app/assets/none.js')).status).toBe(404);
  }));

/** Settings of a function behind the edge, which name its secrets. */
const behindEdge = (endpoint: string) => ({
  ...{ KEY_PEPPER_SECRET: 'pepper', FRONT_DOOR: 'cloudfront', ORIGIN_SECRET_SECRET: 'origin' },
  ...{ AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint, DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
  ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', LOG_FORMAT: 'json' },
});

test.each(webFunctionNames)('AUTH-9 the asset of %s behind the edge rejects requests that bypass it', async (name) => {
  const secrets = await startSecrets({ pepper, origin: 'what-the-edge-proves-itself-with' });
  try {
    await serve(name, behindEdge(secrets.endpoint), async (answer) => {
      for (const [method, path] of served[name]) {
        const { status, json } = await toRead(answer(method, path));
        expect([path, status]).toEqual([path, 403]);
        expect(json).toMatchObject({ error: { code: 'direct_access_refused' } });
      }
    });
  } finally {
    secrets.stop();
  }
});

const toRead = async (pending: Promise<Response>) => {
  const answer = await pending;
  return { status: answer.status, json: await answer.json() };
};

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

test('OPS-1 the asset that serves files behind API Gateway responds to an event', async () => {
  const environment = { KEY_PEPPER: pepper, FRONT_DOOR: 'api-gateway', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
  const { prelude, body } = await load(CONTENT_BY_EVENTS, environment, get('/v1/videos/none/content'));
  expect(prelude?.statusCode).toBe(401);
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'missing_api_key' } });
});

test('REF-1 the asset that serves files behind API Gateway has the pages in its code', async () => {
  const environment = { KEY_PEPPER: pepper, FRONT_DOOR: 'api-gateway', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
  const { prelude, body } = await load(CONTENT_BY_EVENTS, environment, get('/app'));
  expect([prelude?.statusCode, body]).toEqual([200, expect.stringContaining('<!doctype html>')]);
});

test('GEN-10 the asset of catalog responds to GET /health through a response stream', async () => {
  const { prelude, body } = await load('catalog', { KEY_PEPPER: pepper }, get('/health'));
  expect(prelude?.statusCode).toBe(200);
  expect(JSON.parse(body)).toEqual({ status: 'ok' });
});

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
    expect(secrets.asked.toSorted()).toEqual(['pepper', 'vendors']);
  } finally {
    secrets.stop();
  }
});

test("AUTH-9 the text function's asset reads the origin secret and rejects requests without it", async () => {
  const secrets = await startSecrets({ pepper, origin: 'what-the-edge-proves-itself-with' });
  try {
    const { prelude, body } = await load('text', behindEdge(secrets.endpoint), get('/v1/chat/completions'));
    expect(prelude?.statusCode).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'direct_access_refused' } });
    expect(new Set(secrets.asked)).toEqual(new Set(['pepper', 'origin']));
  } finally {
    secrets.stop();
  }
});

test.each(functionNames)('the clients that %s seldom needs are in separate files', (name) => {
  const read = readAtStart(readReport(app.outdir, name)).flatMap(({ inputs }) => Object.keys(inputs));
  expect(read.some((file) => file.includes('/client-dynamodb/'))).toBe(true);
  expect(read.filter((file) => /\/(client-(secrets-manager|s3|sfn|ssm)|lib-storage)\//.test(file))).toEqual([]);
});

test.each(functionNames)('CAT-5 the asset of %s has a prepared catalog and no schema of the catalog', (name) => {
  const files = Object.values(readReport(app.outdir, name).outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const schemas = /^(catalog\/.*\.json|lambdas\/core\/catalog\/(load-catalog|schema|entry-fields|prices)\.ts)$/;
  expect(files.filter((file) => schemas.test(file))).toEqual([]);
});

/** Importing these modules runs every getter of their exports. One of them loads Node's implementation of fetch. */
test.each(functionNames)("the start of %s does not load Node's implementation of fetch", (name) => {
  const imports = readAtStart(readReport(app.outdir, name)).flatMap(({ imports }) => imports);
  const whole = imports.filter(({ path, external }) => external && /^(node:)?(https?|undici)$/.test(path));
  expect(whole).toEqual([]);
});

test.each(functionNames)('the bundle of %s contains nothing from CDK, `lib` or the tests', (name) => {
  const { inputs } = readReport(app.outdir, name);
  const files = Object.keys(inputs);
  expect(files).toContain(functions[name].entry);
  const strays = files.filter((file) =>
    /(^|\/)node_modules\/(aws-cdk|constructs|esbuild|aws-local-stepfunctions)|^(lib|test|bin)\//.test(file),
  );
  expect(strays).toEqual([]);
});

test.each(functionNames)('the asset of %s contains modules and its pages, and its start reads few of them', (name) => {
  const there = readdirSync(assetOf(name), { recursive: true, encoding: 'utf8' });
  const files = there.filter((file) => !file.startsWith('pages'));
  expect(files.filter((file) => !file.endsWith('.mjs'))).toEqual([]);
  expect(there.length > files.length, name).toBe(functions[name].servesPages === true);
  const all = files.reduce((sum, file) => sum + statSync(join(assetOf(name), file)).size, 0);
  const atStart = readAtStart(readReport(app.outdir, name)).reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`${name}: ${Math.round(atStart / 1_000)} of ${Math.round(all / 1_000)} kB`);
  expect(atStart).toBeGreaterThan(START_BYTES_MAX / 5);
  expect(atStart).toBeLessThan(START_BYTES_MAX);
  const codec = (files: Iterable<string>) => [...files].some((file) => file.includes('/@cf-wasm/photon/'));
  const hasCodec = codec(Object.keys(readReport(app.outdir, name).inputs));
  expect(hasCodec).toBe(name === 'images' || name === 'inference');
  expect(codec(readAtStart(readReport(app.outdir, name)).flatMap(({ inputs }) => Object.keys(inputs)))).toBe(false);
  expect(all).toBeLessThan(ASSET_BYTES_MAX + (hasCodec ? CODEC_BYTES_MAX : 0));
});

/** The library's build for Node has its own HTTP client and is four times as large. */
test('KEY-1 only functions that call the messenger contain its library, in the build for the web', () => {
  const libraryOf = (name: FunctionName) =>
    readAtStart(readReport(app.outdir, name))
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
