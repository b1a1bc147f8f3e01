import { HOLDS_MAX } from '../../lambdas/core/ledger/ledger.ts';
import { type AccountRate, accountUnits, holdLimitRate, partitionRate } from './account-writes.ts';
import {
  type Estimate,
  frontDoors,
  functionHost,
  natTraffic,
  recordsKept,
  services,
  sumOf,
  webHost,
} from './estimate.ts';
import { costOf, type Price, type PriceName, prices } from './prices.ts';
import { type Workload, workloads } from './workloads.ts';

/** Monthly fixed costs of an environment behind CloudFront, even without requests. */
export const standing: readonly (readonly [what: string, name: PriceName, count: number])[] = [
  ['the firewall', 'firewallMonth', 1],
  ['its rules: the rate per client IP, and two AWS rule groups that only count', 'firewallRuleMonth', 3],
  ['secrets: pepper, provider keys, bot token, top-up key, origin secret', 'secretMonth', 5],
  ['dashboards', 'dashboardMonth', 5],
  ['metrics that alarms evaluate', 'alarmMonth', 196],
  ['composite alarms: for money, and two burn rates of each objective', 'compositeAlarmMonth', 5],
  ['custom metrics with values in a month, about', 'metricMonth', 86],
];

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** Runs of the canary in 30 days, and the HTTP requests of one run. */
const RUNS = 8_640;
const REQUESTS = 12;
const LARGE_BODY_GB = 0.0032;

/** Monthly cost of the canary behind CloudFront, without its alarm and its metrics. Rows may have several prices. */
export const canary: readonly (readonly [what: string, parts: readonly (readonly [PriceName, number])[]])[] = [
  [
    `its function: ${grouped(String(RUNS))} runs of about 3 s in 512 MB`,
    [
      ['lambdaGbSecond', RUNS * 3 * 0.5],
      ['lambdaRequest', RUNS],
    ],
  ],
  [
    `the functions that it calls: ${REQUESTS} requests of about 0.2 s in 1 GB per run`,
    [
      ['lambdaGbSecond', RUNS * REQUESTS * 0.2],
      ['lambdaRequest', RUNS * REQUESTS],
    ],
  ],
  [
    'the front door',
    (['edgeRequest', 'edgeFunction', 'firewallRequest'] as const).map((name) => [name, RUNS * REQUESTS]),
  ],
  [
    'the body of 3.2 MB of each run, at the price of the internet',
    [
      ['internetGb', RUNS * LARGE_BODY_GB],
      ['edgeToOriginGb', RUNS * LARGE_BODY_GB],
    ],
  ],
  [
    'database, bucket and logs',
    [
      ['writeUnit', RUNS * 12],
      ['put', RUNS],
      ['logGb', (RUNS * (REQUESTS + 1) * 2_500) / 1_000_000_000],
    ],
  ],
  [
    'the secret with its API key',
    [
      ['secretMonth', 1],
      ['secretCall', RUNS],
    ],
  ],
];

const MILLION = 1_000_000;
/** Events of one call of the function, while requests arrive evenly: far fewer than the hundred that it accepts. */
const EVENTS_AT_ONCE = 10;

/** Cost of the usage events of a million requests, without the rules and targets of the operator. */
export const usageEvents: readonly (readonly [what: string, name: PriceName, count: number])[] = [
  ['events', 'busEvent', MILLION],
  [
    `the function: a call of about 0.2 s in 512 MB for ${EVENTS_AT_ONCE} events`,
    'lambdaGbSecond',
    (MILLION / EVENTS_AT_ONCE) * 0.2 * 0.5,
  ],
  ['its calls', 'lambdaRequest', MILLION / EVENTS_AT_ONCE],
];

/** Hours of a month of 30 days. */
const HOURS = 720;

/** Monthly fixed costs of a created VPC for each of its NAT gateways. The endpoints of DynamoDB and S3 are free. */
export const network: readonly (readonly [what: string, name: PriceName, count: number])[] = [
  ['a NAT gateway', 'natHour', HOURS],
  ['its Elastic IP address', 'publicAddressHour', HOURS],
];

export const costOfStanding = (name: PriceName, count: number): bigint => {
  const picos = costOf(name, count);
  if (picos === undefined) throw new Error(`${name} has no price`);
  return picos;
};

const works: readonly Workload[] = Object.values(workloads);
const memories = [512, 768, 1_024, 1_769, 3_008] as const;
/** Concurrent requests in one environment: a quarter of its maximum, and the maximum. */
const CROWDS = [16, 64] as const;

/** Returns the tables of docs/operations/costs.md by the names in the `costs:` comments there. */
export const toTables = (): Readonly<Record<string, string>> => ({
  totals: totals(),
  hosts: hosts(),
  'web-functions': webFunctions(),
  doors: doors(),
  services: servicesTable(),
  'open-holds': openHoldsTable(),
  standing: standingTable(),
  canary: canaryTable(),
  'usage-events': usageEventsTable(),
  network: networkTable(),
  nat: natTable(),
  prices: pricesTable(),
});

/** Returns the tables of docs/operations/scaling.md. */
export const toScalingTables = (): Readonly<Record<string, string>> => ({ 'account-rates': accountRatesTable() });

const totals = (): string =>
  toTable(
    ['one million of', 'function', 'front door', 'other services', 'total', 'stored records, each later month'],
    works.map((work) => {
      const host = functionHost(work);
      const door = frontDoors.cloudfront(work);
      const rest = sum(Object.values(services).map((cost) => cost(work)));
      return [work.title, ...[host, door, rest, sum([host, door, rest]), recordsKept(work)].map(usd)];
    }),
  );

const hosts = (): string =>
  toTable(
    ['one million of', ...memories.map((memory) => `${count(memory)} MB`)],
    works.map((work) => [work.title, ...memories.map((memory) => usd(functionHost(work, memory)))]),
  );

const webFunctions = (): string =>
  toTable(
    [
      'one million of',
      'requests',
      'vCPU-seconds',
      ...CROWDS.map((crowd) => `GB-seconds at ${crowd} concurrent`),
      'in USD',
    ],
    [workloads.shortChat, workloads.longStream, workloads.embedding, workloads.image].map((work) => {
      const least = webHost(work, CROWDS[0]);
      return [
        work.title,
        quantity(least, 'webRequest'),
        quantity(least, 'webCpuSecond'),
        ...CROWDS.map((crowd) => quantity(webHost(work, crowd), 'webGbSecond')),
        usd(least),
      ];
    }),
  );

const doors = (): string =>
  toTable(
    ['one million of', ...Object.keys(frontDoors).map((name) => `\`${name}\``)],
    works.map((work) => [work.title, ...Object.values(frontDoors).map((cost) => usd(cost(work)))]),
  );

const servicesTable = (): string =>
  toTable(
    ['one million of', ...Object.keys(services)],
    works.map((work) => [work.title, ...Object.values(services).map((cost) => usd(cost(work)))]),
  );

/** Numbers of open holds that `test/service/store-units.long.test.ts` measures. */
export const MEASURED_HOLDS = [0, 30, 35, 36, 100, HOLDS_MAX - 1] as const;

const openHoldsTable = (): string => {
  const others = workloads.shortChat.writeUnits - accountUnits(1);
  return toTable(
    ['other open holds', 'account and record', 'paid request', 'writes of one million requests'],
    MEASURED_HOLDS.map((open) => {
      const units = others + accountUnits(open);
      const picos = costOf('writeUnit', units * 1_000_000);
      return [count(open), count(accountUnits(open)), count(units), usd({ picos, parts: [] })];
    }),
  );
};

/** Durations of an embedding, of chat completions and of a stream, in seconds. */
const DURATIONS = [0.3, 1, 2, 3, 10, 60] as const;

const accountRatesTable = (): string =>
  toTable(
    [
      'seconds per request',
      'DynamoDB throttles above',
      'after records have moved',
      'LIM-8 rejects above',
      'first limit',
    ],
    DURATIONS.map((seconds) => {
      const [together, apart, holds] = [
        partitionRate(seconds, false),
        partitionRate(seconds, true),
        holdLimitRate(seconds),
      ];
      const first = holds.perSecond < together.perSecond ? 'LIM-8' : 'DynamoDB';
      return [String(seconds), rate(together), rate(apart), rate(holds), first];
    }),
  );

/** LIM-8 rejects requests before an account has more open holds. */
const rate = ({ perSecond, openHolds, units }: AccountRate): string =>
  openHolds > HOLDS_MAX ? 'not reached' : `${count(perSecond)} a second (${count(openHolds)} open, ${units} units)`;

const standingTable = (): string => {
  const rows = standing.map(([what, name, many]) => [what, count(many), dollars(costOfStanding(name, many))]);
  const together = standing.reduce((total, [, name, many]) => total + costOfStanding(name, many), 0n);
  return toTable(['monthly item', 'number', 'USD'], [...rows, ['total', '', dollars(together)]]);
};

const canaryTable = (): string => {
  const costs = canary.map(([what, parts]) => [what, sumOf(parts.map(([name, much]) => costOf(name, much)))] as const);
  const rows = costs.map(([what, picos]) => [what, dollars(picos ?? 0n)]);
  return toTable(['monthly item', 'USD'], [...rows, ['total', dollars(sumOf(costs.map(([, picos]) => picos)) ?? 0n)]]);
};

const usageEventsTable = (): string =>
  toTable(
    ['one million requests', 'number', 'USD'],
    usageEvents.map(([what, name, many]) => [what, count(many), dollars(costOfStanding(name, many))]),
  );

const networkTable = (): string =>
  toTable(
    ['monthly item', 'hours', 'USD'],
    network.map(([what, name, many]) => [what, count(many), dollars(costOfStanding(name, many))]),
  );

const natTable = (): string =>
  toTable(
    ['one million of', 'GB through NAT gateways', 'USD'],
    works.map((work) => {
      const traffic = natTraffic(work);
      return [work.title, quantity(traffic, 'natGb'), usd(traffic)];
    }),
  );

const pricesTable = (): string =>
  toTable(
    ['unit', 'USD', 'as of', 'source'],
    Object.values<Price>(prices).map(({ unit, usd: amount, asOf, source }) => [
      unit,
      amount ?? 'unknown',
      asOf,
      source,
    ]),
  );

const sum = (estimates: readonly Estimate[]): Estimate => ({
  picos: sumOf(estimates.map(({ picos }) => picos)),
  parts: estimates.flatMap(({ parts }) => parts),
});

const toTable = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const quantity = ({ parts }: Estimate, name: string): string =>
  count(Math.round(parts.find(([part]) => part === name)?.[1] ?? 0));

const usd = ({ picos }: Estimate): string => (picos === undefined ? 'unknown' : dollars(picos));

const PICOS_PER_CENT = 10_000_000_000n;

/** Rounds to the nearest cent. */
const dollars = (picos: bigint): string => {
  const cents = (picos + PICOS_PER_CENT / 2n) / PICOS_PER_CENT;
  return `${grouped(String(cents / 100n))}.${String(cents % 100n).padStart(2, '0')}`;
};

const count = (many: number): string => grouped(String(many));

/** Matches the place of a table: from `<!-- costs: name -->` to the next `<!-- /costs -->`. */
const place = /<!-- costs: ([\w-]+) -->\n[\s\S]*?<!-- \/costs -->/g;

/** Fills in the tables of the document at `path`. Throws an Error for a place without a table, and for a table without a place. */
export const withTables = (document: string, tables: Readonly<Record<string, string>>, path: string): string => {
  const placed = new Set<string>();
  const filled = document.replace(place, (_whole, name: string) => {
    const table = tables[name];
    if (table === undefined)
      throw new Error(`${path} has a place for the table "${name}", but there is no table "${name}".`);
    placed.add(name);
    return `<!-- costs: ${name} -->\n${table}\n<!-- /costs -->`;
  });
  const homeless = Object.keys(tables).filter((name) => !placed.has(name));
  if (homeless.length > 0) throw new Error(`${path} has no place for ${homeless.join(', ')}.`);
  return filled;
};
