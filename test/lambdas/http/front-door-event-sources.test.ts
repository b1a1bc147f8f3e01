import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { frontDoorOf } from '../../../lambdas/functions/wiring/front-door.ts';
import { streaming } from '../../../lambdas/host/lambda-runtime.ts';
import { type Host, startHost } from '../../../lambdas/host/server.ts';
import { createEdgeFrontDoor, type FrontDoor, openFrontDoor } from '../../../lambdas/http/front-door.ts';
import { readSettings } from '../../../lambdas/settings.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';
import { noTables } from '../../support/memory/memory-stores.ts';
import { createChain } from './chain.ts';
import { functionUrlEvent, invoke } from './function-url.ts';
import { asCalled, restApiEvent } from './rest-api-event.ts';

/** One request of a client. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Client address. */
  readonly address?: string;
}

interface Told {
  readonly status: number;
  readonly body: string;
  readonly contentType: string | undefined;
}

type Chain = Awaited<ReturnType<typeof createChain>>;
type Ask = (chain: Chain, asked: Asked) => Promise<Told>;

const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop(0);
});

const toQuery = (query: Asked['query'] = []): string => new URLSearchParams(query.map((pair) => [...pair])).toString();

const toUrlSent = ({ query = [], ...asked }: Asked) => ({
  ...functionUrlEvent({ ...asked, ...(asked.address ? { sourceIp: asked.address } : {}) }),
  rawQueryString: toQuery(query),
  ...(query.length > 0 ? { queryStringParameters: Object.fromEntries(query) } : {}),
});

const told = async (answer: ReturnType<typeof invoke>): Promise<Told> => {
  const { status, text, headers } = await answer;
  return { status, body: text, contentType: headers['content-type'] };
};

const SECRET = 'an-origin-secret';
const edge: FrontDoor = createEdgeFrontDoor(
  { current: () => [SECRET], refresh: async () => undefined },
  { silenceMs: 120_000, commitsStreams: true, commitsJson: true },
);

const byUrl: Ask = ({ handler }, asked) => told(invoke(handler, toUrlSent(asked)));

const byRestApi: Ask = ({ handler }, { headers = {}, address, ...asked }) => {
  const pairs = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value] as const);
  const event = restApiEvent({ ...asked, headers: pairs, ...(address ? { sourceIp: address } : {}) });
  return told(invoke(handler, asCalled(event)));
};

/** Sends a request as CloudFront does, after its viewer function moved a key from the query to a header. */
const byEdge: Ask = ({ handler }, { headers = {}, address = '203.0.113.7', query = [], ...asked }) => {
  const key = query.find(([name]) => name === 'key')?.[1];
  const event = toUrlSent({
    ...asked,
    query: query.filter(([name]) => name !== 'key'),
    headers: {
      ...headers,
      ...(key === undefined ? {} : { 'x-provider-api-key': key }),
      'x-origin-secret': SECRET,
      'x-client-ip': address,
    },
    // Address of CloudFront.
    address: '64.252.64.1',
  });
  return told(invoke(handler, event));
};

const byHost: Ask = async ({ handler }, { method, path, query = [], headers = {}, body, address = '203.0.113.7' }) => {
  const handlers = { text: streaming(handler), catalog: streaming(handler) };
  const host = await startHost({
    ...{ handlers, port: 0, address: '127.0.0.1', now: Date.now, newRequestId: () => 'OURS' },
    sourceIp: () => address,
    onCrash: (error) => {
      throw error;
    },
  });
  hosts.push(host);
  const { port }: Pick<AddressInfo, 'port'> = host;
  const answer = await fetch(`http://127.0.0.1:${port}${path}?${toQuery(query)}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return {
    status: answer.status,
    body: await answer.text(),
    contentType: answer.headers.get('content-type') ?? undefined,
  };
};

const restDoor = await frontDoorOf(readSettings({ ...noTables, FRONT_DOOR: 'api-gateway' }), {
  clock: new ManualClock(),
  notice: () => undefined,
});

const doors: readonly (readonly [name: string, ask: Ask, frontDoor: FrontDoor])[] = [
  ['a function URL', byUrl, openFrontDoor],
  ['CloudFront', byEdge, edge],
  ['API Gateway', byRestApi, restDoor],
  ['the host', byHost, openFrontDoor],
];

const asked: readonly (readonly [what: string, (apiKey: string) => Asked, expected: object])[] = [
  [
    'a chat by Bearer',
    (apiKey) => ({
      ...{ method: 'POST', path: '/v1/chat/completions', body: '{"model":"é \\" m"}' },
      headers: { authorization: `Bearer ${apiKey}` },
    }),
    { status: 200, body: '{"route":"chatCompletions"}' },
  ],
  [
    'an action by a key in the query',
    (apiKey) => ({ method: 'POST', path: '/v1beta/models/m:generateContent', query: [['key', apiKey]], body: '{}' }),
    { status: 200, body: '{"route":"generateContent"}' },
  ],
  ['a chat without a key', () => ({ method: 'POST', path: '/v1/chat/completions', body: '{}' }), { status: 401 }],
  ['a path that nothing is at', () => ({ method: 'GET', path: '/v1/nothing' }), { status: 404 }],
  ['what a browser asks first', () => ({ method: 'OPTIONS', path: '/v1/chat/completions' }), { status: 204, body: '' }],
];

test.each(asked)('GEN-8 %s gets the same response behind every front door', async (_, toAsked, expected) => {
  const answers = [];
  for (const [name, ask, frontDoor] of doors) {
    const chain = await createChain({ frontDoor });
    const answer = await ask(chain, toAsked(chain.apiKey));
    expect(answer, name).toMatchObject(expected);
    answers.push(answer);
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test.each(doors)("LIM-7 behind %s the client address ignores the client's headers", async (_, ask, frontDoor) => {
  const chain = await createChain({ frontDoor, addressBurst: 1 });
  const from = (address: string, forwarded: string) =>
    ask(chain, { method: 'GET', path: '/api/models', address, headers: { 'x-forwarded-for': forwarded } });
  expect((await from('203.0.113.7', '10.0.0.1')).status).toBe(200);
  expect((await from('203.0.113.7', '10.0.0.2')).status).toBe(429);
  expect((await from('203.0.113.8', '10.0.0.2')).status).toBe(200);
});
