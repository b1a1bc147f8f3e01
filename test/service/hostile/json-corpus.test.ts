import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { judge, moneyOf, readError } from '../../support/hostile-oracle.ts';
import {
  chat,
  creations,
  having,
  ignoringRoutes,
  namesModelInPath,
  type PostRoute,
  postRoutes,
  videos,
} from '../../support/hostile-routes.ts';
import { ask } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { rowsOfTier } from '../../tiers.ts';
import { nested } from './hostile-json.ts';
import { malformed, schemas, strange, unusual, wrong } from './json-corpus.ts';

let vendor: Simulator;
let gateway: InProcessGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

interface More {
  readonly headers?: readonly string[];
  readonly target?: string;
}

const send = async (
  route: PostRoute,
  body: Uint8Array | string,
  { headers = [], target = route.target }: More = {},
) => {
  const { apiKey, accountId } = await gateway.issue();
  const calls = vendor.requests.length;
  const sent = { method: 'POST', target, body, headers: [...route.headers(apiKey), ...headers] };
  const reply = await ask(gateway.port, sent);
  judge(reply, route.shape);
  // A video is charged at its end, which is after the test.
  const { spent } = route === videos && reply.status === 200 ? { spent: 0n } : await moneyOf(gateway, accountId);
  return { reply, spent, calls: vendor.requests.length - calls };
};

type Wanted = { readonly status?: number; readonly code: string; readonly param: string | null };

/** Checks that the request fails with this error before a provider call, free of charge. */
const refused = async (route: PostRoute, body: Uint8Array | string, wanted: Wanted, more: More = {}) => {
  const { reply, spent, calls } = await send(route, body, more);
  const { status = 400, ...error } = wanted;
  expect(readError(reply, route.shape)).toMatchObject(error);
  expect([reply.status, spent, calls]).toEqual([status, 0n, 0]);
};

const I = 'invalid_request_error';
const textOf = (route: PostRoute): string => JSON.stringify(route.body('hi'));

/** Every row at every route. The quick tier has every row once and every route at least once. */
const everywhere = <Row extends readonly [what: string, ...rest: unknown[]]>(table: readonly Row[]) => {
  const rows = postRoutes.flatMap((route, at) =>
    table.map((row, index) => ({ row, route, turn: (index + at) % postRoutes.length })),
  );
  return rowsOfTier(
    rows.toSorted((one, other) => one.turn - other.turn),
    ({ row: [what] }) => what,
  ).map(({ row, route }) => [row[0], route.name, route, row] as const);
};

test.each(everywhere(malformed))('GEN-2 %s at %s is 400 and names no field', async (_what, _name, route, [, body]) => {
  await refused(route, body, { code: I, param: null });
});

/** Whether the route ignores these members. No route accepts the number 1e400 or the name `__proto__`. */
const isIgnored = ({ name }: PostRoute, members: string): boolean =>
  ignoringRoutes.has(name) && !/1e400|__proto__/.test(members);

test.each(everywhere(strange))(
  'GEN-2 GEN-9 GEN-16 ERR-8 %s in addition to the fields of %s is 400 and named, or ignored',
  async (_what, _name, route, [, members, param]) => {
    const body = having(route, members);
    if (!isIgnored(route, members)) return refused(route, body, { code: I, param });
    const { reply, calls } = await send(route, body);
    expect([reply.status, calls]).toEqual([200, 1]);
    expect(reply.headers.has('x-service-ignored-parameters')).toBe(true);
  },
);

const invalid = wrong.map(([what, route, ...rest]) => [what, route.name, route, ...rest] as const);

test.each(rowsOfTier(invalid, ([what]) => what))(
  'GEN-2 ERR-8 %s at %s is 400 and named',
  async (_what, _name, route, body, code, param) => {
    await refused(route, body, { code, param });
  },
);

const hostileIds = ['__proto__', 'constructor', 'toString', '\u0000', 'no\u0000', '../gpt-5.4', 'a'.repeat(1_000)];

test.each(everywhere(hostileIds.map((id) => [id] as const)))(
  'CAT-6 the model %j is 404 model_not_found at %s',
  async (model, _name, route) => {
    const inPath = namesModelInPath(route);
    const target = inPath ? route.target.replace(route.model, encodeURIComponent(model)) : route.target;
    const body = JSON.stringify(route.body('hi', inPath ? {} : { model }));
    await refused(route, body, { status: 404, code: 'model_not_found', param: 'model' }, { target });
  },
);

test.each(everywhere(['null', '""', '[]', '0', '{}'].map((json) => [json] as const)))(
  'CAT-6 the model %s is 400 at %s',
  async (model, _name, route) => {
    const body = having(route, `"model":${model}`);
    // A model of `null` is accepted if the path names the model or the route has a default (MOD-1).
    const isOptional = namesModelInPath(route) || route.name === 'moderations';
    if (isOptional && model === 'null') expect((await send(route, body)).reply.status).toBe(200);
    else await refused(route, body, { code: I, param: 'model' });
  },
);

const encodings = [
  ['deflate', ['content-encoding: deflate'], 415, 'unsupported_media_type', 'content-encoding'],
  ['a list of encodings', ['content-encoding: identity, br'], 415, 'unsupported_media_type', 'content-encoding'],
  ['a form with files', ['content-type: multipart/form-data; boundary=x'], 400, I, 'content-type'],
  ['a form in capitals', ['content-type: MULTIPART/MIXED'], 400, I, 'content-type'],
] as const;

test.each(everywhere(encodings))(
  'GEN-12 %s with valid JSON at %s is rejected',
  async (what, _name, route, [, headers, status, code, param]) => {
    // Videos accept forms, so the body is read as one. Its error names no field, because the body is not a form.
    const named = route === videos && what === 'a form with files' ? null : param;
    await refused(route, textOf(route), { status, code, param: named }, { headers });
  },
);

test.each(schemas.map(([route, ...rest]) => [route.name, route, ...rest] as const))(
  'GEN-2 %s accepts 64 levels of JSON in a tool schema and rejects 65',
  async (_, route, level, body) => {
    const deep = (levels: number) => `{"type":"object","properties":{"a":${nested(levels, '{}')}}}`;
    // The schema, its properties and the innermost object are three more levels.
    const most = 64 - level - 3;
    const { reply } = await send(route, body(deep(most)));
    expect(reply.status, reply.body.slice(0, 300)).toBe(200);
    await refused(route, body(deep(most + 1)), { code: I, param: null });
  },
);

test.each(everywhere(Object.entries(unusual)))('GEN-2 %s at %s is served', async (what, _name, route, [, write]) => {
  // No store accepts half a surrogate pair, and a video's prompt is stored.
  if (what === 'a lone surrogate' && creations.includes(route)) return;
  const { reply } = await send(route, write(textOf(route)));
  expect(reply.status, reply.body.slice(0, 300)).toBe(200);
  expect(reply.headers.has('x-injected')).toBe(false);
});

test.each([
  ['the schema of a tool', '"tools":[{"type":"function","function":{"name":"f","parameters":{"__proto__":{"a":1}}}}]'],
  ['the metadata', '"metadata":{"__proto__":"a"}'],
])('GEN-9 __proto__ in %s is forwarded or rejected, never dropped', async (_, members) => {
  const { reply } = await send(chat, having(chat, members));
  const sent = reply.status === 200 ? Buffer.from(vendor.requests.at(-1)?.bytes ?? []).toString() : reply.body;
  expect(sent).toContain('__proto__');
});

test('GEN-4 an error that the provider reports names the wrong field too', async () => {
  const { reply } = await send(chat, having(chat, '"messages":[{"role":"tool","tool_call_id":"none","content":"hi"}]'));
  expect(reply.status).toBe(400);
  expect(readError(reply).param).not.toBeNull();
});

test.each(everywhere([['malformed requests'] as const]))(
  'GEN-2 %s at %s do not affect the next request',
  async (_what, _name, route) => {
    await Promise.all(malformed.map(([, body]) => send(route, body)));
    expect((await send(route, textOf(route))).reply.status).toBe(200);
    expect(gateway.crashes).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  },
);
