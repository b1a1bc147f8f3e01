import { parseUsd } from '../../lambdas/core/money/usd.ts';

export interface Price {
  /**
   * Decimal amount in USD for one unit in us-east-1, at the first tier and without a free tier; undefined if AWS
   * publishes no price.
   */
  readonly usd: string | undefined;
  readonly unit: string;
  /** URL of the price: a version of the AWS price list, or a page. */
  readonly source: string;
  /** Date of that version, or the date on which the page was read. */
  readonly asOf: string;
}

const list = (version: string): string =>
  `https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/${version}/us-east-1/index.json`;

const lambda = { source: list('AWSLambda/20260919002359'), asOf: '2026-09-19' };
const lambdaPage = { source: 'https://aws.amazon.com/lambda/pricing/', asOf: '2026-11-22' };
const dynamodb = { source: list('AmazonDynamoDB/20260911124422'), asOf: '2026-09-11' };
const cloudfront = {
  source: 'https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonCloudFront/current/index.json',
  asOf: '2026-09-16',
};
const waf = { source: list('awswaf/20260107213453'), asOf: '2026-07-29' };
const apiGateway = { source: list('AmazonApiGateway/20260921231404'), asOf: '2026-09-21' };
const s3 = { source: list('AmazonS3/20260831092225'), asOf: '2026-08-31' };
const cloudwatch = { source: list('AmazonCloudWatch/20260831092148'), asOf: '2026-08-31' };
const secrets = { source: list('AWSSecretsManager/20250828153804'), asOf: '2026-07-29' };
const vpcPage = { source: 'https://aws.amazon.com/vpc/pricing/', asOf: '2026-11-26' };
const transfer = { source: list('AWSDataTransfer/20260831121448'), asOf: '2026-08-31' };

/** All prices that `npm run costs` uses. Change a price here, with its source and date. */
export const prices = {
  lambdaRequest: { usd: '0.0000002', unit: 'request', ...lambda },
  lambdaGbSecond: { usd: '0.0000133334', unit: 'GB-second, arm64', ...lambda },
  lambdaStreamedGb: { usd: '0.008', unit: 'GB streamed beyond 6 MB of a response', ...lambdaPage },
  webCpuSecond: { usd: undefined, unit: 'vCPU-second used', ...lambdaPage },
  webGbSecond: { usd: undefined, unit: 'GB-second used', ...lambdaPage },
  webRequest: { usd: undefined, unit: 'request', ...lambdaPage },
  webTransferGb: { usd: undefined, unit: 'GB sent', ...lambdaPage },
  writeUnit: { usd: '0.000000625', unit: 'write request unit', ...dynamodb },
  readUnit: { usd: '0.000000125', unit: 'read request unit', ...dynamodb },
  tableGbMonth: { usd: '0.25', unit: 'GB-month in tables', ...dynamodb },
  recoveryGbMonth: {
    usd: '0.2',
    unit: 'GB-month of point-in-time recovery',
    source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    asOf: '2026-11-22',
  },
  edgeRequest: { usd: '0.000001', unit: 'HTTPS request', ...cloudfront },
  edgeGb: { usd: '0.085', unit: 'GB to clients in North America or Europe', ...cloudfront },
  edgeToOriginGb: { usd: '0.02', unit: 'GB to an origin', ...cloudfront },
  edgeFunction: {
    usd: '0.0000001',
    unit: 'call of a CloudFront Function',
    source: 'https://aws.amazon.com/cloudfront/pricing/',
    asOf: '2026-11-22',
  },
  firewallRequest: { usd: '0.0000006', unit: 'request', ...waf },
  firewallMonth: { usd: '5', unit: 'web ACL per month', ...waf },
  firewallRuleMonth: { usd: '1', unit: 'rule per month', ...waf },
  restRequest: {
    usd: '0.0000035',
    unit: 'call; each started 10 MB of a streamed response counts as one',
    ...apiGateway,
  },
  internetGb: { usd: '0.09', unit: 'GB to the internet', ...transfer },
  natHour: { usd: '0.045', unit: 'hour of a NAT gateway', ...vpcPage },
  natGb: { usd: '0.045', unit: 'GB through a NAT gateway, in each direction', ...vpcPage },
  publicAddressHour: { usd: '0.005', unit: 'hour of a public IPv4 address', ...vpcPage },
  transition: {
    usd: '0.000025',
    unit: 'state transition',
    source: 'https://aws.amazon.com/step-functions/pricing/',
    asOf: '2026-11-22',
  },
  put: { usd: '0.000005', unit: 'PUT', ...s3 },
  get: { usd: '0.0000004', unit: 'GET', ...s3 },
  bucketGbMonth: { usd: '0.023', unit: 'GB-month', ...s3 },
  logGb: { usd: '0.5', unit: 'GB of logs ingested', ...cloudwatch },
  logGbMonth: { usd: '0.03', unit: 'GB-month of logs stored', ...cloudwatch },
  metricMonth: { usd: '0.3', unit: 'metric per month', ...cloudwatch },
  alarmMonth: { usd: '0.1', unit: 'alarm per month, for each metric it evaluates', ...cloudwatch },
  compositeAlarmMonth: {
    usd: '0.5',
    unit: 'composite alarm per month',
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
    asOf: '2026-11-22',
  },
  dashboardMonth: {
    usd: '3',
    unit: 'dashboard per month',
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
    asOf: '2026-07-29',
  },
  trace: { usd: '0.000005', unit: 'trace', source: 'https://aws.amazon.com/xray/pricing/', asOf: '2026-11-22' },
  busEvent: {
    usd: '0.000001',
    unit: 'custom event of up to 64 KB on an event bus',
    source: 'https://aws.amazon.com/eventbridge/pricing/',
    asOf: '2026-11-27',
  },
  secretMonth: { usd: '0.4', unit: 'secret per month', ...secrets },
  secretCall: { usd: '0.000005', unit: 'call', ...secrets },
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;

const MICROS = 1_000_000;

/**
 * Returns the cost of a quantity in pico-USD; undefined if it has no published price. The quantity may have six
 * decimals. A GB is 10^9 bytes here but 2^30 bytes at AWS, so the estimate is up to 7 % too high.
 */
export const costOf = (name: PriceName, quantity: number): bigint | undefined => {
  const { usd }: Price = prices[name];
  return usd === undefined ? undefined : (parseUsd(usd) * BigInt(Math.round(quantity * MICROS))) / BigInt(MICROS);
};
