import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../lib/local/upstreams/server.ts';
import { type HostileGateway, startHostileGateway } from '../../support/hostile-gateway.ts';
import { nested } from '../../support/hostile-json.ts';
import { malformed } from '../../support/hostile-malformed.ts';
import { judge, moneyOf, readError } from '../../support/hostile-oracle.ts';
import {
  creations,
  generateContent,
  having,
  messages,
  namesModelInPath,
  newRoutes,
  type PostRoute,
  responses,
  videos,
} from '../../support/hostile-routes.ts';
import { ask } from '../../support/hostile-wire.ts';
import { strange, wrong } from '../../support/hostile-wrong-bodies.ts';

let vendor: Simulator;
let gateway: HostileGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startHostileGateway({ vendor: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const send = async (
  route: PostRoute,
  body: Uint8Array | string,
  more: { headers?: readonly string[]; target?: string } = {},
) => {
  const { apiKey, accountId } = await gateway.issue();
  const calls = vendor.requests.length;
  const headers = [...route.headers(apiKey), ...(more.headers ?? [])];
  const reply = await ask(gateway.port, { method: 'POST', target: more.target ?? route.target, body, headers });
  judge(reply, route.shape);
  // A video is paid for when it has ended, and here it never does.
  const { spent } = route === videos && reply.status === 200 ? { spent: 0n } : await moneyOf(gateway, accountId);
  return { reply, spent, calls: vendor.requests.length - calls };
};

type Wanted = { readonly status?: number; readonly code: string; readonly param: string | null };

const refused = async (route: PostRoute, body: Uint8Array | string, wanted: Wanted, headers?: readonly string[]) => {
  const { reply, spent, calls } = await send(route, body, headers ? { headers } : {});
  const { status = 400, ...error } = wanted;
  expect(readError(reply, route.shape)).toMatchObject(error);
  expect([reply.status, spent, calls]).toEqual([status, 0n, 0]);
};

const I = 'invalid_request_error';
const named = newRoutes.map((route) => [route.name, route] as const);

const corpus = newRoutes.flatMap((route) => malformed.map(([what, body]) => [what, route.name, route, body] as const));
test.each(corpus)('GEN-2 %s at %s is 400 and names no field', async (_what, _name, route, body) => {
  await refused(route, body, { code: I, param: null });
});

test.each(
  newRoutes.flatMap((route) =>
    strange
      .filter(([, , param]) => !(creations.includes(route) && param === 'prompt'))
      .map(([what, members, param]) => [what, route.name, route, members, param] as const),
  ),
)('GEN-2 GEN-9 ERR-8 %s beside the fields of %s is 400 and named', async (_what, _name, route, members, param) => {
  await refused(route, having(route, members), { code: I, param });
});

test.each(wrong.map(([what, route, ...rest]) => [what, route.name, route, ...rest] as const))(
  'GEN-2 ERR-8 %s at %s is 400 and named',
  async (_what, _name, route, body, code, param) => {
    await refused(route, body, { code, param });
  },
);

const names = ['__proto__', 'constructor', 'toString', '\u0000', 'no\u0000', '../gpt-5.4', 'a'.repeat(1_000)];

test.each(named.flatMap(([name, route]) => names.map((model) => [model.slice(0, 20), name, route, model] as const)))(
  'CAT-6 the model %j is 404 model_not_found at %s',
  async (_, _name, route, model) => {
    const inPath = namesModelInPath(route);
    const target = inPath ? route.target.replace(route.model, encodeURIComponent(model)) : route.target;
    const { reply, spent } = await send(route, JSON.stringify(route.body('hi', inPath ? {} : { model })), { target });
    expect(readError(reply, route.shape)).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect([reply.status, spent]).toEqual([404, 0n]);
  },
);

test.each(
  named.flatMap(([name, route]) => ['null', '""', '[]', '0', '{}'].map((model) => [model, name, route] as const)),
)('CAT-6 the model %s is 400 at %s', async (model, _name, route) => {
  const { reply, spent } = await send(route, having(route, `"model":${model}`));
  // Beside a path that names the model, null says nothing.
  const isNothing = namesModelInPath(route) && model === 'null';
  expect([reply.status, isNothing || spent === 0n]).toEqual([isNothing ? 200 : 400, true]);
  if (!isNothing) expect(readError(reply, route.shape)).toMatchObject({ code: I, param: 'model' });
});

const encodings = [
  ['gzip', 'content-encoding: gzip', 415, 'unsupported_media_type', 'content-encoding'],
  ['a list of encodings', 'content-encoding: identity, br', 415, 'unsupported_media_type', 'content-encoding'],
  ['a form with files', 'content-type: multipart/form-data; boundary=x', 400, I, 'content-type'],
] as const;
test.each(
  newRoutes.flatMap((route) =>
    encodings.map(([what, header, status, code, param]) => {
      // There a form is looked into, and this is none.
      const named = route === videos && status === 400 ? null : param;
      return [what, route.name, route, header, status, code, named] as const;
    }),
  ),
)('GEN-12 %s around good JSON at %s is refused', async (_what, _name, route, header, status, code, param) => {
  await refused(route, JSON.stringify(route.body('hi')), { status, code, param }, [header]);
});

const deep = (levels: number) => `{"type":"object","properties":{"a":${nested(levels, '{}')}}}`;
const schemas: readonly (readonly [name: string, route: PostRoute, body: (schema: string) => string, level: number])[] =
  [
    [
      'responses',
      responses,
      (schema) => having(responses, `"tools":[{"type":"function","name":"f","parameters":${schema}}]`),
      3,
    ],
    ['messages', messages, (schema) => having(messages, `"tools":[{"name":"f","input_schema":${schema}}]`), 3],
    [
      'generateContent',
      generateContent,
      (schema) =>
        having(generateContent, `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${schema}}]}]`),
      5,
    ],
  ];
test.each(schemas)(
  'GEN-2 in what is free at %s 64 levels are looked at and 65 are refused',
  async (_, route, body, level) => {
    // The schema itself, its properties and the innermost object are three more.
    const most = 64 - level - 3;
    const { reply } = await send(route, body(deep(most)));
    expect(reply.status, reply.body.slice(0, 300)).toBe(200);
    await refused(route, body(deep(most + 1)), { code: I, param: null });
  },
);

const good = (route: PostRoute): readonly (readonly [what: string, body: string])[] => {
  const text = JSON.stringify(route.body('hi'));
  return [
    ['one byte order mark', `\ufeff${text}`],
    ['white space around', ` \r\n\t${text}\n`],
    [
      'the same name twice, the second good',
      `{${text.slice(1, -1).replace(/"(input|messages|contents|prompt)":/, '"$1":0,"$1":')}}`,
    ],
    [
      'escapes in a name',
      text.replace(
        /"(i)nput"|"(m)essages"|"(c)ontents"|"(p)rompt"/,
        (name) => `"\\u00${name.charCodeAt(1).toString(16)}${name.slice(2)}`,
      ),
    ],
    // A video's prompt is kept and shown again, and no store keeps half of a character.
    ...(creations.includes(route)
      ? []
      : [['a lone surrogate in its text', text.replace('"hi"', '"\\ud800"')] as const]),
    ['control characters in its text', text.replace('"hi"', '"\\u0000\\u001b[2J\\r\\nx-injected: 1"')],
  ];
};
test.each(newRoutes.flatMap((route) => good(route).map(([what, body]) => [what, route.name, route, body] as const)))(
  'GEN-2 %s at %s is served',
  async (_what, _name, route, body) => {
    const { reply } = await send(route, body);
    expect(reply.status, reply.body.slice(0, 300)).toBe(200);
    expect(reply.headers.has('x-injected')).toBe(false);
  },
);

test.each(named)('GEN-2 what a client breaks at %s leaves the next request as it was', async (_, route) => {
  await Promise.all(malformed.slice(0, 30).map(([, body]) => send(route, body)));
  expect((await send(route, JSON.stringify(route.body('hi')))).reply.status).toBe(200);
  expect(gateway.crashes).toEqual([]);
  expect(Object.keys(Object.prototype)).toEqual([]);
});
