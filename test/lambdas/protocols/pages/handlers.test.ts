import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { PageFiles } from '../../../../lambdas/core/images/media.ts';
import type { RouteHandler } from '../../../../lambdas/http/exchange.ts';
import { createGetDocument, createGetPage, createGetPageFile } from '../../../../lambdas/protocols/pages/handlers.ts';
import { pageNames } from '../../../../lambdas/routes.ts';
import { MemoryPageFiles } from '../../../support/memory/memory-page-files.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

let files: MemoryPageFiles;
let lines: object[];

beforeEach(() => {
  files = new MemoryPageFiles();
  lines = [];
  for (const page of pageNames) {
    files.put(page, 'index.html', `<!doctype html>${page}`, 'text/html; charset=utf-8');
    files.put(page, 'guides/clients.html', '<!doctype html>clients', 'text/html; charset=utf-8');
    files.put(page, 'guides/clients.md', '# Clients', 'text/markdown; charset=utf-8');
    files.put(page, 'routes/health.html', '<!doctype html>health', 'text/html; charset=utf-8');
    files.put(page, 'llms.txt', '# API', 'text/plain; charset=utf-8');
    files.put(page, 'main.js', `'${page}'`, 'text/javascript; charset=utf-8');
    files.put(page, 'main.js.gz', gzipSync(`'${page}'`), 'application/octet-stream');
  }
});

/** Requests `/app` and its files, or those of the API reference. */
const get = async (path: string, pages: PageFiles = files, headers: Readonly<Record<string, string>> = {}) => {
  const deps = { pages, now: () => 0, finished: (_id: string, summary: object) => void lines.push(summary) };
  const page = path.startsWith('/app') ? 'app' : 'api-reference';
  const wholes: Readonly<Record<string, RouteHandler>> = {
    [`/${page}`]: createGetPage(deps, page),
    '/api-reference/clients': createGetPage(deps, page, 'clients.html', 'guides'),
    '/llms.txt': createGetPage(deps, page, 'llms.txt'),
  };
  const [, folder] = /^\/api-reference\/(routes|guides)\//.exec(path) ?? [];
  const document = folder === 'routes' || folder === 'guides' ? createGetDocument(deps, page, folder) : undefined;
  const handle = wholes[path] ?? document ?? createGetPageFile(deps, page);
  const chain = await createChain({ handle });
  return invoke(chain.handler, functionUrlEvent({ path, headers }));
};

test.each([
  ['/app', '<!doctype html>app', 'text/html; charset=utf-8'],
  ['/api-reference', '<!doctype html>api-reference', 'text/html; charset=utf-8'],
  ['/api-reference/clients', '<!doctype html>clients', 'text/html; charset=utf-8'],
  ['/api-reference/guides/clients', '<!doctype html>clients', 'text/html; charset=utf-8'],
  ['/api-reference/guides/clients.md', '# Clients', 'text/markdown; charset=utf-8'],
  ['/api-reference/routes/health', '<!doctype html>health', 'text/html; charset=utf-8'],
  ['/app/assets/main.js', "'app'", 'text/javascript; charset=utf-8'],
  ['/api-reference/main.js', "'api-reference'", 'text/javascript; charset=utf-8'],
])('AUTH-6 REF-1 %s is served without an API key', async (path, text, mediaType) => {
  const answer = await get(path);
  expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([200, text, mediaType]);
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect(lines).toHaveLength(1);
});

test('REF-4 /llms.txt and /api-reference/llms.txt are the same text', async () => {
  const [one, other] = await Promise.all(['/llms.txt', '/api-reference/llms.txt'].map((path) => get(path)));
  expect([one?.status, one?.headers['content-type'], one?.text]).toEqual([200, 'text/plain; charset=utf-8', '# API']);
  expect(other?.text).toBe(one?.text);
});

test('REF-1 browsers do not cache a page, and cache its files for minutes', async () => {
  for (const page of ['/app', '/api-reference/clients', '/api-reference/guides/clients'])
    expect((await get(page)).headers['cache-control']).toBe('no-cache');
  expect((await get('/app/assets/main.js')).headers['cache-control']).toBe('public, max-age=300');
});

test.each(['/app', '/api-reference'])('REF-1 %s can load only its own files', async (path) => {
  const policy = (await get(path)).headers['content-security-policy'] ?? '';
  const parts = new Map(policy.split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]));
  expect(parts.get('default-src')).toBe("'none'");
  expect(parts.get('script-src')).toBe("'self'");
  expect(parts.get('connect-src')).toBe("'self'");
  const loading = [...parts].filter(([name]) => name?.endsWith('-src')).map(([, from]) => from);
  expect(loading.filter((from) => /https?:|\*/.test(from))).toEqual([]);
});

test.each(['gzip', 'gzip, deflate, br, zstd', 'br;q=1.0, GZIP;q=0.5', '*', 'deflate, *;q=0.1'])(
  'REF-7 a client that accepts "%s" gets the compressed file',
  async (accepted) => {
    const answer = await get('/api-reference/main.js', files, { 'accept-encoding': accepted });
    expect(answer.bytes).toEqual(gzipSync("'api-reference'"));
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(answer.bytes.length),
      vary: 'accept-encoding',
    });
  },
);

test.each(['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.0, *', '*;q=0', 'x-gzipped'])(
  'REF-7 a client that accepts "%s" gets the file unchanged',
  async (accepted) => {
    const answer = await get('/api-reference/main.js', files, { 'accept-encoding': accepted });
    expect([answer.text, answer.headers['content-encoding']]).toEqual(["'api-reference'", undefined]);
    expect(answer.headers.vary).toBe('accept-encoding');
  },
);

test('REF-7 a file that the build did not compress is sent unchanged', async () => {
  const answer = await get('/app', files, { 'accept-encoding': 'gzip' });
  expect([answer.text, answer.headers['content-encoding']]).toEqual(['<!doctype html>app', undefined]);
});

test('KEY-4 only the messenger can embed the mini app, and no site can embed the reference', async () => {
  expect((await get('/app')).headers['content-security-policy']).toContain(
    "frame-ancestors 'self' https://web.telegram.org",
  );
  expect((await get('/api-reference')).headers['content-security-policy']).toContain("frame-ancestors 'none'");
});

test.each([
  'none.js',
  'main',
  '.js',
  'MAIN.JS',
  '..%2fmain.js',
  'a.b.c.toolongending',
  '%00.js',
  'main.js%20',
  'main.js.gz',
])('AUTH-6 %s is not a file of a page', async (file) => {
  const answer = await get(`/app/assets/${file}`);
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([404, 'not_found']);
});

test.each([
  'guides/none',
  'guides/clients.html',
  'routes/clients',
  'guides/..%2fllms.txt',
  'guides/Clients',
  'guides/.md',
])('AUTH-6 %s is not a document of the reference', async (name) => {
  const answer = await get(`/api-reference/${name}`);
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([404, 'not_found']);
});

test('REF-1 the reference allows no style and script in its pages', async () => {
  expect((await get('/api-reference/routes/health')).headers['content-security-policy']).not.toContain('unsafe');
});

test('BILL-14 files that cannot be looked up are 503', async () => {
  const open = () => Promise.reject(new StoreError('unavailable', 'TimeoutError'));
  const answer = await get('/app', { open });
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '30']);
  expect(JSON.parse(answer.text).error.code).toBe('service_unavailable');
});

test('AUTH-6 an impossible file name is not looked up', async () => {
  const asked: string[] = [];
  const open = async (page: string, file: string): Promise<undefined> => void asked.push(`${page}/${file}`);
  for (const file of ['..%2foutbox', '%2e%2e%2foutbox', 'x%2fy.js', 'a%0ab.js'])
    await get(`/app/assets/${file}`, { open });
  expect(asked).toEqual([]);
});
