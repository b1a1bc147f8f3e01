import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOLDS_MAX } from '../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { realCircuit } from '../../support/circuit-calls.ts';
import { holdAll, openCircuit, outcomeAfter, sendTo } from '../../support/circuit-hostile.ts';
import { dear } from '../../support/error-rows-table.ts';
import { within } from '../../support/gateway-process.ts';
import { judge, readError, shapeAt } from '../../support/hostile-oracle.ts';
import {
  chat,
  countContent,
  countTokens,
  creations,
  generateContent,
  hasCap,
  messages,
  moderations,
  namesModelInPath,
  type PostRoute,
  postRoutes,
  responses,
  routesOfTier,
} from '../../support/hostile-routes.ts';
import { openWire, readReply, toBytes } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { rowsOfTier } from '../../tiers.ts';
import { nested } from './hostile-json.ts';

let vendor: Simulator;
const started = new Map<string, Promise<InProcessGateway>>();
beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(async () => {
  for (const gateway of started.values()) await (await gateway).stop();
  await vendor.stop();
});

/** Settings of a gateway: providers without a key, a rate limit of one request, or circuits that open. */
interface World {
  readonly lost?: boolean;
  readonly limited?: 'ADDRESS' | 'KEY';
  readonly circuits?: boolean;
  /** Whether the gateway is in maintenance. */
  readonly closed?: boolean;
}

/** One gateway serves all rows with the same settings. An open circuit needs its own gateway. */
const gatewayOf = ({ lost = false, limited, circuits = false, closed = false }: World): Promise<InProcessGateway> => {
  const name = circuits ? ulid() : `${lost} ${limited} ${closed}`;
  const limit = { [`LIMIT_${limited}_PER_SECOND`]: '1', [`LIMIT_${limited}_BURST`]: '1' };
  const environment = { ...(limited ? limit : {}), ...(circuits ? realCircuit : {}) };
  const gateway =
    started.get(name) ??
    startInProcess({
      ...{ now: frozenClock, vendorUrl: lost ? undefined : vendor.url, environment },
      ...(closed ? { change: ({ maintenance }) => ({ maintenance: { ...maintenance, read: async () => 'on' } }) } : {}),
    });
  started.set(name, gateway);
  return gateway;
};

interface Customer {
  readonly gateway: InProcessGateway;
  readonly route: PostRoute;
  readonly accountId: string;
  readonly apiKey: string;
  /** Client IP of the tested request. */
  readonly from: string;
}

/** One reason to reject a request. */
interface Fault {
  readonly name: string;
  readonly outcome: string;
  readonly on?: (route: PostRoute) => boolean;
  readonly world?: World;
  /** Runs before the request. */
  readonly prepare?: (customer: Customer) => Promise<unknown>;
  /** Blocks the customer's other requests, so it is prepared last. */
  readonly isGate?: true;
  /**
   * Whether `prepare` takes seconds or many calls. Such a fault is not paired with faults that precede the checks of
   * the request.
   */
  readonly costly?: true;
  readonly method?: string;
  readonly target?: (route: PostRoute) => string;
  readonly headers?: readonly string[];
  readonly version?: 'missing';
  /** Raw body. By contrast, `members` are added to a valid body, and `words` are its prompt. */
  readonly text?: string;
  readonly members?: (route: PostRoute) => object;
  readonly words?: string;
}

const KEY = 'idempotency-key: a-key';
const LIMITED = '429 rate_limit_exceeded';
const keyed = [chat, responses];
const takesKeys = (route: PostRoute): boolean => [...keyed, ...creations].includes(route);
const billed = ({ billed }: PostRoute): boolean => billed;
/** Moderation costs nothing, so it works without available money. */
const costs = (route: PostRoute): boolean => route.billed && route !== moderations;
/** Fills every hold that an account can have, each with the same part of its money. */
const fillHolds = async ({ gateway: { ledger }, accountId }: Customer): Promise<void> => {
  const amountPicos = parseUsd('10') / BigInt(HOLDS_MAX);
  const each = { accountId, amountPicos, expiresAtMs: 0, sweepAtMs: 0, previousHoldId: undefined };
  for (let held = 0; held < HOLDS_MAX; held += 1) await ledger.hold({ ...each, holdId: `${ulid()}.0` });
};

const send = async (customer: Pick<Customer, 'gateway' | 'route' | 'apiKey' | 'from'>, faults: readonly Fault[]) => {
  const { gateway, route, apiKey, from } = customer;
  const first = <T>(pick: (fault: Fault) => T | undefined): T | undefined =>
    faults.map(pick).find((found) => found !== undefined);
  const members = Object.assign({}, ...faults.map((fault) => fault.members?.(route)).reverse());
  const target = first((fault) => fault.target?.(route)) ?? route.target;
  const own = route.headers(apiKey).filter((line) => !line.startsWith('provider-') || !first(({ version }) => version));
  const socket = await openWire(gateway.port, from);
  const reading = readReply(socket, 30_000);
  socket.write(
    toBytes({
      ...{ method: first(({ method }) => method) ?? 'POST', target, keepAlive: true },
      headers: [...own, ...faults.flatMap(({ headers = [] }) => headers)],
      body: first(({ text }) => text) ?? JSON.stringify(route.body(first(({ words }) => words) ?? 'hi', members)),
    }),
  );
  const reply = await reading;
  socket.destroy();
  const shape = shapeAt(target, own);
  judge(reply, shape);
  if (reply.status < 400) return String(reply.status);
  const { code, param } = readError(reply, shape);
  return code === 'invalid_request_error' ? `${reply.status} ${param}` : `${reply.status} ${code}`;
};

const toNowhere = ({ target }: PostRoute): string => target.replace(/(\?.*)?$/, '/nowhere/nowhere');
const noModel = {
  target: (route: PostRoute) => route.target.replace(route.model, 'no-such-model'),
  members: (route: PostRoute) => (namesModelInPath(route) ? {} : { model: 'no-such-model' }),
};

/** GEN-8: the checks in their order. Faults in one line are not ordered. */
const table: readonly (readonly Fault[])[] = [
  [{ name: 'the 404 of the path', outcome: '404 not_found', target: toNowhere }],
  [{ name: 'the 405', outcome: '405 method_not_allowed', method: 'PUT' }],
  [
    {
      ...{ name: 'the 503 of maintenance', outcome: '503 service_unavailable', world: { closed: true }, on: billed },
    },
  ],
  [
    {
      ...{ name: 'the 429 of the client IP', outcome: LIMITED, world: { limited: 'ADDRESS' }, isGate: true },
      prepare: (customer) => send(customer, []),
    },
  ],
  [
    {
      ...{ name: '401', outcome: '401 revoked_api_key', isGate: true },
      prepare: ({ gateway, apiKey }) => gateway.revoke(apiKey),
    },
  ],
  [
    {
      ...{ name: 'the 429 of the API key', outcome: LIMITED, world: { limited: 'KEY' }, isGate: true },
      prepare: (customer) => send(customer, []),
    },
  ],
  [
    {
      ...{ name: '403', outcome: '403 account_blocked', isGate: true },
      prepare: ({ gateway, apiKey }) => gateway.block(apiKey),
    },
  ],
  [
    {
      ...{ name: '413', outcome: '413 payload_too_large', text: '{' },
      headers: [`content-length: ${BODY_BYTES_MAX + 1}`],
    },
  ],
  [{ name: '415', outcome: '415 unsupported_media_type', headers: ['content-encoding: deflate'] }],
  [
    {
      ...{ name: 'the 400 of the content type', outcome: '400 content-type', text: '{' },
      headers: ['content-type: multipart/form-data'],
    },
  ],
  [
    { name: 'the 400 of the JSON', outcome: '400 null', text: '{' },
    { name: 'the 400 of its depth', outcome: '400 null', text: `{"model":"none","unknown":1,"a":${nested(64)}}` },
    { name: 'the 400 of a number', outcome: '400 a', text: '{"a":1e400}' },
  ],
  [{ name: 'the 400 of a header', outcome: '400 x-service-dry-run', headers: ['x-service-dry-run: perhaps'] }],
  [
    { name: 'the 400 of a key', outcome: '400 idempotency-key', headers: ['idempotency-key: no key'] },
    {
      ...{ name: 'the 400 of an unsupported key', outcome: '400 idempotency_not_supported', headers: [KEY] },
      on: (route) => !takesKeys(route),
    },
  ],
  [
    {
      ...{ name: 'the 400 of a list of fallback models', outcome: '400 invalid_fallback_model' },
      ...{ headers: ['x-service-fallback-models: gpt-6-luna,'], on: (route) => keyed.includes(route) },
    },
  ],
  [
    {
      ...{ name: 'the 422 of a key', outcome: '422 idempotency_key_mismatch', on: takesKeys, headers: [KEY] },
      members: () => ({ user: 'another' }),
      prepare: async ({ gateway, route, apiKey, from }) =>
        expect(await send({ gateway, route, apiKey, from }, [{ name: '', outcome: '', headers: [KEY] }])).toBe('200'),
    },
  ],
  [
    {
      ...{ name: 'the 400 of the version', outcome: '400 anthropic-version', version: 'missing' },
      on: ({ shape }) => shape === 'messages',
    },
  ],
  [
    { name: 'the 400 of a field', outcome: '400 modell', members: () => ({ modell: 1 }) },
    { name: 'the 404 of the model', outcome: '404 model_not_found', ...noModel },
    {
      ...{ name: 'the 422 of the model', outcome: '422 unprocessable_entity', on: (route) => route === chat },
      members: () => ({ n: 2 }),
    },
  ],
  [
    {
      ...{ name: 'the 400 of the fallback model', outcome: '400 invalid_fallback_model' },
      ...{ headers: ['x-service-fallback-model: no-such-model'], on: (route) => keyed.includes(route) },
    },
  ],
  [
    { name: 'the 503 of a model without a provider', outcome: '503 model_unavailable', world: { lost: true } },
    {
      ...{ name: 'the 503 of an open circuit', outcome: '503 service_unavailable', on: billed, costly: true },
      ...{ world: { circuits: true }, isGate: true, prepare: ({ gateway, route }) => openCircuit(gateway, route) },
    },
  ],
  [
    {
      ...{ name: 'the 400 of the budget', outcome: '400 request_budget_exceeded' },
      ...{ on: (route) => route.billed && hasCap(route), members: (route) => dear({ route }) },
    },
  ],
  [{ name: 'LIM-8', outcome: LIMITED, on: billed, prepare: fillHolds }],
  [
    {
      ...{ name: '402', outcome: '402 insufficient_balance', on: costs },
      prepare: async ({ gateway, accountId }) => {
        const account = await gateway.ledger.readAccount(accountId);
        if (account?.availablePicos) await holdAll(gateway, accountId);
      },
    },
  ],
  [
    {
      ...{ name: 'the error of the provider', outcome: '502 upstream_error', words: '[[status 500]]' },
      // The simulator ignores prompt instructions when it only counts tokens.
      on: (route) => route !== countContent,
    },
  ],
];

const FIRST_OF_REQUEST = table.findIndex(([fault]) => fault?.name === 'the 400 of a field');
const rankOf = (fault: Fault): number => table.findIndex((line) => line.includes(fault));

/** A request has at most one idempotency key. */
const sendsKey = ({ headers = [] }: Fault): boolean => headers.some((line) => line.startsWith('idempotency-key:'));

/** Whether a request can have both faults, and its response shows which one was found. */
const canMeet = (one: Fault, other: Fault): boolean => {
  if (rankOf(one) >= rankOf(other) || one.outcome === other.outcome) return false;
  if (sendsKey(one) && sendsKey(other)) return false;
  if (other.costly && rankOf(one) < FIRST_OF_REQUEST) return false;
  // In maintenance no request can prepare a fault.
  if (one.world?.closed) return !other.prepare;
  const isKeyUsed = one.name === 'the 422 of a key';
  // An idempotency key and abandoned streams first need a provider call. Streams do not accept an idempotency key.
  if (other.world?.lost) return !isKeyUsed;
  return !(one.world?.lost && other.costly) && !(isKeyUsed && other.name === 'the 400 of the budget');
};

const faults = table.flat();
const rows = postRoutes.flatMap((route) => {
  const own = faults.filter(({ on }) => on?.(route) ?? true);
  const pairs = own.flatMap((one) => own.filter((other) => canMeet(one, other)).map((other) => [one, other] as const));
  return [...own.map((fault) => [fault] as const), ...pairs].map((found) => ({ route, found }));
});
const nameOf = ([{ name }, other]: readonly [Fault, Fault?]): string =>
  other ? `${name} precedes ${other.name}` : `${name} ends a request`;
const chosen = rowsOfTier(rows, ({ found }) => nameOf(found)).map(
  ({ route, found }) => [nameOf(found), route.name, route, found] as const,
);

let customers = 0;

/** Creates a client with its own account and client IP. */
const newCustomer = async (route: PostRoute, world: World): Promise<Customer> => {
  const gateway = await gatewayOf(world);
  customers += 1;
  const from = `127.${1 + (customers >> 16)}.${(customers >> 8) & 255}.${customers & 255}`;
  return { gateway, route, from, ...(await gateway.issue()) };
};

test('GEN-8 the table has at least 250 pairs of faults', () => {
  expect(new Set(rows.map(({ found }) => nameOf(found))).size).toBeGreaterThan(250);
});

test.concurrent.each(chosen)('GEN-8 %s at %s', async (_name, _route, route, found) => {
  const world = Object.assign({}, ...found.map(({ world }) => world));
  const customer = await newCustomer(route, world);
  const gates = found.filter(({ isGate }) => isGate);
  const others = found.filter(({ isGate }) => !isGate);
  for (const { prepare } of [...others, ...gates.reverse()]) await prepare?.(customer);
  expect(await send(customer, found)).toBe(found[0]?.outcome);
});

const DRY = 'x-service-dry-run: true';
const NO_FALLBACK = 'x-service-fallback-model: no-such-model';

test('GEN-8 GEN-14 403 precedes the wait for body budget', async () => {
  const environment = { BODY_BUDGET_BYTES: '1' };
  const gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url, environment });
  started.set('budget', Promise.resolve(gateway));
  const { apiKey } = await gateway.issue();
  const full = await openWire(gateway.port);
  const headers = [...chat.headers(apiKey), 'content-length: 9'];
  full.write(toBytes({ method: 'POST', target: chat.target, headers, body: '{' }));
  const blocked = await gateway.issue({ blocked: true });
  expect(await outcomeAfter(gateway, chat, blocked.apiKey, { body: '{' })).toBe('403 account_blocked');
  full.destroy();
});

test.each(routesOfTier(keyed))(
  'GEN-8 IDEM-5 %s rejects a key with a stream before it checks fields',
  async (_, route) => {
    const gateway = await gatewayOf({});
    const { apiKey } = await gateway.issue({ balanceUsd: '0' });
    const outcome = await outcomeAfter(gateway, route, apiKey, {
      headers: [KEY, NO_FALLBACK],
      body: { stream: true, unknown: 1 },
    });
    expect(outcome).toBe('400 idempotency_not_supported');
  },
);

test.each(routesOfTier([...keyed, ...creations]))(
  'GEN-8 IDEM-2 IDEM-3 IDEM-4 %s handles its idempotency key before all later checks',
  async (_, route) => {
    const gateway = await gatewayOf({ circuits: true });
    const { apiKey, accountId } = await gateway.issue();
    const sending = (body: object) => sendTo(gateway, route, apiKey, { headers: [KEY], body });
    const gate = vendor.gate();
    const first = sending({});
    await within('the first call', gate.waitFor(1));
    expect((await sending({ model: 'no-such-model' })).outcome).toBe('422 idempotency_key_mismatch');
    expect((await sending({})).outcome).toBe('409 idempotency_in_progress');
    gate.open();
    expect((await first).outcome).toBe('200');
    vendor.reset();
    await openCircuit(gateway, route);
    await holdAll(gateway, accountId);
    const posts = () => vendor.requests.filter(({ method }) => method === 'POST').length;
    const calls = posts();
    const again = await sending({});
    expect([again.outcome, again.reply.body]).toEqual(['200 again', (await first).reply.body]);
    expect(await outcomeAfter(gateway, route, apiKey)).toBe('503 service_unavailable');
    expect(posts()).toBe(calls);
  },
);

test.each(routesOfTier(postRoutes.filter((route) => route.billed && !keyed.includes(route))))(
  'FALL-4 %s has no fallback models',
  async (_, route) => {
    const gateway = await gatewayOf({});
    const { apiKey } = await gateway.issue({ balanceUsd: '0' });
    expect(await outcomeAfter(gateway, route, apiKey, { headers: [NO_FALLBACK] })).toBe('400 invalid_fallback_model');
  },
);

test('BILL-16 GEN-8 a dry run checks the field, the budget and the circuit, not the balance', async () => {
  const gateway = await gatewayOf({ circuits: true });
  const { apiKey, accountId } = await gateway.issue({ balanceUsd: '0' });
  const versionOf = async () => (await gateway.ledger.readAccount(accountId))?.version;
  const before = await versionOf();
  const dry = (body: object = {}) => outcomeAfter(gateway, chat, apiKey, { headers: [DRY], body });
  expect(await dry()).toBe('200');
  expect(await dry({ functions: [1] })).toBe('400 functions');
  expect(await dry(dear({ route: chat }))).toBe('400 request_budget_exceeded');
  await openCircuit(gateway, chat);
  expect(await dry()).toBe('503 service_unavailable');
  expect(await versionOf()).toBe(before);
});

test.each([
  ['messages', messages, countTokens],
  ['generateContent', generateContent, countContent],
] as const)('AUTH-4 BILL-17 counting tokens for %s reads neither balance nor circuit', async (_, route, free) => {
  const gateway = await gatewayOf({ circuits: true });
  const { apiKey, accountId } = await gateway.issue({ balanceUsd: '0' });
  await openCircuit(gateway, route);
  expect(await outcomeAfter(gateway, free, apiKey)).toBe('200');
  // A queued `vendor.next` could be used by a video poll of an earlier test.
  vendor.setScenario(({ path }) => (/count/i.test(path) ? { refusal: { kind: 'status', status: 500 } } : undefined));
  expect(await outcomeAfter(gateway, free, apiKey)).toBe('502 upstream_error');
  vendor.setScenario(undefined);
  expect(await gateway.ledger.readAccount(accountId)).toMatchObject({ spentPicos: 0n, holds: new Map() });
});

test('FALL-1 GEN-8 a request without money gets 402 and is not the probe of a half-open circuit', async () => {
  let nowMs = frozenClock();
  const environment = { ...realCircuit };
  const gateway = await startInProcess({ now: () => nowMs, vendorUrl: vendor.url, environment });
  started.set('probe', Promise.resolve(gateway));
  const [rich, poor] = [await gateway.issue(), await gateway.issue({ balanceUsd: '0' })];
  await openCircuit(gateway, chat);
  nowMs += 29_999;
  expect(await outcomeAfter(gateway, chat, rich.apiKey)).toBe('503 service_unavailable');
  nowMs += 1;
  expect(await outcomeAfter(gateway, chat, poor.apiKey)).toBe('402 insufficient_balance');
  expect(await outcomeAfter(gateway, chat, rich.apiKey)).toBe('200');
});
