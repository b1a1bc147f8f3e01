import { expect, test } from 'vitest';
import type { ErrorCode } from '../../lambdas/core/errors/error-codes.ts';
import type { Scenario } from '../../local/simulators/scenario.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { postChat, readError as readPlainError, saying, spentBy } from '../support/gateway-chat.ts';
import { readError } from '../support/hostile-oracle.ts';
import { vendorKey } from '../support/vendor-environment.ts';
import { rowsOfTier } from '../tiers.ts';
import { inputLanes, type Lane, textLanes } from './hostile-lanes.ts';
import { hasty, startSimulated } from './simulated-gateway.ts';

const { vendor, gateway, another } = await startSimulated();
const impatient = await another(hasty);

interface Row {
  readonly rule: string;
  readonly name: string;
  readonly scenario: Scenario;
  readonly code: ErrorCode;
  readonly status: number;
  /** A fixed value, `none`, or `jitter` for 5 to 30. */
  readonly retryAfter: string;
  /** Checked if it is given. */
  readonly param?: (lane: Lane) => string | null;
  /** The provider never ends the response. */
  readonly silent?: boolean;
}

type Failure = Pick<Row, 'code' | 'status' | 'retryAfter'>;

const broken: Failure = { code: 'upstream_error', status: 502, retryAfter: 'none' };
const late: Failure = { code: 'upstream_timeout', status: 504, retryAfter: 'none' };
const away: Failure = { code: 'service_unavailable', status: 503, retryAfter: '30' };
const gone: Failure = { code: 'model_unavailable', status: 503, retryAfter: 'none' };
const busy: Failure = { code: 'upstream_capacity', status: 429, retryAfter: 'jitter' };
const wrong: Failure = { code: 'invalid_request_error', status: 400, retryAfter: 'none' };
const tooLong: Failure = { code: 'context_length_exceeded', status: 400, retryAfter: 'none' };
const filtered: Failure = { code: 'content_filter', status: 400, retryAfter: 'none' };

const row = (rule: string, name: string, scenario: Scenario, failure: Failure, more: Partial<Row> = {}): Row => ({
  ...{ rule, name, scenario, ...failure, ...more },
});
const status = (code: number, retryAfterSeconds?: number): Scenario => ({
  refusal: { kind: 'status', status: code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
});
const quota = (code?: string): Scenario => ({ refusal: { kind: 'quota', ...(code ? { code } : {}) } });
const for429 = (seconds: number, told: string): Row =>
  row('ERR-2', `429 for ${seconds} s`, status(429, seconds), { ...busy, retryAfter: told });

/** Errors that every provider can return. */
const refusals: readonly Row[] = [
  row('ERR-9', '400', status(400), wrong),
  row('ERR-9', '422', status(422), wrong),
  row('CHAT-13', 'that the prompt is too long', { refusal: { kind: 'context-length' } }, tooLong, {
    param: ({ promptParam }) => promptParam,
  }),
  row('ERR-3', 'that our key is wrong', { refusal: { kind: 'unauthorized' } }, away),
  row('ERR-3', '403', status(403), away),
  row('ERR-3', 'that our quota is spent', quota(), away),
  row('ERR-9', '404', { refusal: { kind: 'model-not-found' } }, gone, { param: () => 'model' }),
  row('ERR-9', '418', status(418), broken),
  for429(7, '7'),
  for429(0, '1'),
  for429(3_600, '300'),
  row('ERR-9', '500', status(500), broken),
  row('ERR-9', '503', status(503), away),
  row('ERR-9', '504', status(504), late),
  row('GEN-5', 'a redirect', { redirect: true }, broken),
  row('ERR-9', 'a reset', { reset: true }, broken),
  row('ERR-9', 'a page of HTML', { garbage: true }, broken),
  row('BILL-9', 'nothing more than its status', { cutAfter: 0 }, broken),
  row('LIM-6', 'with silence', { hang: true }, late, { silent: true }),
];

/** Errors in each provider's own words: ERR-3, and a rate limit without a retry time. */
const ofVendor: Readonly<Record<Lane['vendor'], readonly Row[]>> = {
  openai: [
    row('ERR-9', '429', status(429), busy),
    row('CHAT-14', 'a policy', { refusal: { kind: 'status', status: 400, code: 'cyber_policy' } }, filtered),
    row('ERR-3', 'that our credit is spent', quota('credit_balance_exhausted'), away),
    row('ERR-3', 'that our bill is not paid', quota('billing_not_active'), away),
  ],
  anthropic: [
    row('ERR-9', '429', status(429), busy),
    row('ERR-3', 'that our own limit is reached', quota('usage_limits'), away),
    row('ERR-3', 'that our bill is not paid', quota('billing_error'), away),
  ],
  google: [
    row('ERR-9', '429', status(429), { ...busy, retryAfter: '17' }),
    row('ERR-3', 'that billing is disabled', quota('billing'), away),
    row('ERR-3', 'that our credit is spent', quota('prepay'), away),
  ],
};

const plainOnly: readonly Row[] = [row('ERR-9', 'all but the last byte', { cutAfterUsage: true }, broken)];

/** Error within a stream, in the format of each provider. */
const inBandOf: Readonly<Record<Lane['vendor'], (lane: Lane) => Failure>> = {
  openai: () => broken,
  anthropic: (lane) => overloadedFor(lane),
  google: () => away,
};

/** A 529. Only clients of the provider's own format keep the status. */
const overloadedFor = ({ native, vendor: name }: Lane): Failure =>
  native && name === 'anthropic' ? { ...busy, status: 529 } : busy;

const firstOf = (lane: Lane): readonly Row[] => [
  row('ERR-4', 'a first event that is an error', { errorAfter: 0 }, inBandOf[lane.vendor](lane)),
  row('LIM-6', 'a status and then nothing', { stallAfter: 0 }, late, { silent: true }),
  // In these native streams, the first event only announces the response.
  ...(lane.native && lane.vendor !== 'google'
    ? [
        row('ERR-4', 'an announcement and then an error', { errorAfter: 1 }, inBandOf[lane.vendor](lane)),
        row('BILL-9', 'an announcement and then a cut', { cutAfter: 1 }, broken),
      ]
    : []),
];

/** CHAT-14: native protocols forward a blocked response, so it is an error on chat only. */
const blockedOf = ({ native, read }: Lane): readonly Row[] => {
  if (native) return [];
  const before = row('CHAT-14', 'a blocked prompt', { contentFilterAfter: 0 }, filtered);
  return read ? [before] : [before, row('CHAT-14', 'a blocked response', { contentFilterAfter: 3 }, filtered)];
};

const refusalsOf = (lane: Lane): readonly Row[] => [
  ...refusals,
  row('ERR-9', '529', status(529), overloadedFor(lane)),
  ...ofVendor[lane.vendor],
  ...(lane.read ? firstOf(lane) : plainOnly),
  ...(inputLanes.includes(lane) ? [] : blockedOf(lane)),
];

const everyRow = [...textLanes, ...inputLanes].flatMap((lane) =>
  refusalsOf(lane).map((one) => ({ ...one, lane, to: lane.name })),
);
/** In the quick tier, every failure once per provider, and a silent provider once. */
const table = rowsOfTier(everyRow, ({ name, lane, silent }) => (silent ? name : `${name} of ${lane.vendor}`));

const expectRetryAfter = (told: string | null, wanted: string): void => {
  const least = wanted === 'jitter' ? 5 : Number(wanted);
  const most = wanted === 'jitter' ? 30 : least;
  if (wanted === 'none') expect(told).toBeNull();
  else expect([Number(told) >= least, Number(told) <= most], `Retry-After: ${told}`).toEqual([true, true]);
};

test.each(table)(
  '$rule the provider returns $name to $to: $status $code, free of charge',
  async ({ lane, ...wanted }) => {
    vendor.next(wanted.scenario);
    const payer = wanted.silent ? impatient : gateway;
    const { result: response, spent } = await spentBy(payer, () => lane.send(payer));
    const body = await response.text();
    // The type of the error matches its code, and its members are those of the protocol.
    const error = readError({ status: response.status, body }, lane.shape);
    expect([response.status, error.code]).toEqual([wanted.status, wanted.code]);
    if (wanted.param) expect(error.param).toBe(wanted.param(lane));
    expectRetryAfter(response.headers.get('retry-after'), wanted.retryAfter);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-service-cost-usd')).toBeNull();
    expect(body).not.toContain(vendorKey);
    expect(spent).toBe(0n);
    // The provider is called once (GEN-5).
    expect(vendor.requests).toHaveLength(1);
  },
);

/** Number of provider events after which every protocol has sent some content. */
const LATER = 12;
const talking = { words: 40 };

const later = (lane: Lane): readonly Row[] => [
  row('BILL-9', 'an error', { ...talking, errorAfter: LATER }, inBandOf[lane.vendor](lane)),
  row('BILL-9', 'a cut', { ...talking, cutAfter: LATER }, broken),
  row('LIM-6', 'silence', { ...talking, stallAfter: LATER }, late, { silent: true }),
  ...(lane.name === 'responses, streamed' ? [row('BILL-9', 'a failure', { ...talking, failed: true }, broken)] : []),
];

const streams = textLanes.filter(({ read }) => read);
const midway = rowsOfTier(
  streams.flatMap((lane) => later(lane).map((one) => ({ ...one, lane, to: lane.name }))),
  ({ name, to, silent }) => (silent ? name : `${name} to ${to}`),
);

test.each(midway)(
  '$rule $name within a response to $to is an error event at its end, free of charge',
  async ({ lane, ...wanted }) => {
    vendor.next(wanted.scenario);
    const payer = wanted.silent ? impatient : gateway;
    const { result: read, spent } = await spentBy(payer, async () => {
      const response = await lane.send(payer);
      expect(response.status).toBe(200);
      return lane.read?.(response);
    });
    expect(read?.errorCode).toBe(wanted.code);
    expect(read?.isWhole).toBe(false);
    expect(read?.events).toBeGreaterThan(2);
    expect(spent).toBe(0n);
    expect(vendor.requests).toHaveLength(1);
  },
);

test.each(streams.filter(({ native }) => !native))(
  'CHAT-14 a filter within a response to $name ends the stream, which is charged by its usage',
  async (lane) => {
    vendor.next({ contentFilterAfter: 8 });
    const { result: read, spent } = await spentBy(gateway, async () => {
      const response = await lane.send(gateway);
      expect(response.status).toBe(200);
      return lane.read?.(response);
    });
    expect(read).toMatchObject({ errorCode: undefined, isWhole: true });
    expect(spent).toBeGreaterThan(0n);
    expect(vendor.requests).toHaveLength(1);
  },
);

const natives = textLanes.filter(({ native }) => native);
const passed = natives.flatMap((lane) => [
  { lane, to: lane.name, name: 'a blocked prompt', scenario: { contentFilterAfter: 0 } },
  { lane, to: lane.name, name: 'a blocked response', scenario: { contentFilterAfter: 3 } },
  { lane, to: lane.name, name: 'a refusal of the model', scenario: { modelRefuses: true } },
]);

test.each(passed)('CHAT-14 $name is forwarded to $to with 200 and charged by its usage', async ({ lane, scenario }) => {
  vendor.next(scenario);
  const { result, spent } = await spentBy(gateway, async () => {
    const response = await lane.send(gateway);
    expect(response.status).toBe(200);
    return lane.read ? { read: await lane.read(response) } : { body: await response.text() };
  });
  if (result.read) expect(result.read).toMatchObject({ errorCode: undefined, isWhole: true });
  else expect(result.body).not.toContain('"error":{');
  expect(spent).toBeGreaterThan(0n);
  expect(vendor.requests).toHaveLength(1);
});

const wholeAnswers = streams.map((lane) => ({ lane, to: lane.name }));

test.each(wholeAnswers)(
  'BILL-9 a cut after the usage leaves a response to $to complete and charged',
  async ({ lane }) => {
    vendor.next({ cutAfterUsage: true });
    const { result, spent } = await spentBy(gateway, async () => lane.read?.(await lane.send(gateway)));
    expect(vendor.requests.at(-1)?.outcome).toBe('cut');
    expect(result).toMatchObject({ errorCode: undefined, isWhole: true });
    expect(spent).toBeGreaterThan(0n);
  },
);

test('ERR-9 an unreachable provider is 503 service_unavailable, free of charge', async () => {
  const gone = await startSimulator();
  await gone.stop();
  const lonely = await startGateway({ vendorUrl: gone.url });
  try {
    const { result: response, spent } = await spentBy(lonely, () => postChat(lonely, { messages: saying('hello') }));
    expect([response.status, (await readPlainError(response)).code]).toEqual([503, 'service_unavailable']);
    expect([response.headers.get('retry-after'), spent]).toEqual(['30', 0n]);
  } finally {
    await lonely.stop();
  }
});

test('ERR-5 the gateway logs neither its provider key nor a prompt', async () => {
  const prompt = 'canary-4f1c77';
  for (const scenario of [{}, { refusal: { kind: 'status', status: 500 } } as const, { reset: true }]) {
    vendor.next(scenario);
    await (await postChat(gateway, { messages: saying(prompt) })).text();
  }
  expect(vendor.requests).toHaveLength(3);
  expect(gateway.output()).toContain('upstream_error');
  expect([prompt, vendorKey].filter((secret) => gateway.output().includes(secret))).toEqual([]);
});
