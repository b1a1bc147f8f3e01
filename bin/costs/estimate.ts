import { costOf, type PriceName } from './prices.ts';
import type { Workload } from './workloads.ts';

/**
 * Quantities used for a million results of one workload, and their total price in pico-USD; undefined if one of them
 * has no published price.
 */
export interface Estimate {
  readonly picos: bigint | undefined;
  readonly parts: readonly (readonly [PriceName, quantity: number])[];
}

const MILLION = 1_000_000;
const GB = 1_000_000_000;
const FREE_STREAM_BYTES = 6_000_000;
const REST_CHUNK_BYTES = 10_000_000;
/** Size of the front door's access log record of one request, in bytes. */
const ACCESS_LOG_BYTES = 600;
/** Share of requests that X-Ray traces. It traces the first request of each second and 5 % of the others. */
const TRACED_PART = 0.05;
/** Share of requests that start an execution environment. Each start reads `SECRETS_READ` secrets. */
const COLD_PART = 0.01;
const SECRETS_READ = 3;
const BUCKET_DAYS = 2;
const MONTH_DAYS = 30;
/** Measured resident memory of the server in a Web Function, in GB. */
const WEB_RESIDENT_GB = 0.4;

const estimate = (perOne: readonly (readonly [PriceName, number])[]): Estimate => {
  const parts = perOne.map(([name, quantity]) => [name, quantity * MILLION] as const).filter(([, much]) => much > 0);
  return { picos: sumOf(parts.map(([name, quantity]) => costOf(name, quantity))), parts };
};

/** Adds pico-USD amounts. Undefined if one of them is undefined. */
export const sumOf = (costs: readonly (bigint | undefined)[]): bigint | undefined =>
  costs.reduce<bigint | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0n,
  );

/** Estimates functions with a URL: one execution environment per request, paid by memory and duration. */
export const functionHost = (work: Workload, memoryMb: number = work.memoryMb): Estimate =>
  estimate([
    ['lambdaRequest', work.invocations],
    ['lambdaGbSecond', work.seconds * (memoryMb / 1_024)],
    ['lambdaStreamedGb', Math.max(0, work.largestAnswer - FREE_STREAM_BYTES) / GB],
  ]);

/**
 * Estimates a Web Function for inference: processor time, memory during the life of its environments, requests and
 * bytes sent.
 */
export const webHost = (work: Workload, requestsAtOnce: number): Estimate =>
  estimate([
    ['webRequest', work.invocations],
    ['webCpuSecond', work.cpuSeconds],
    ['webGbSecond', (work.seconds * WEB_RESIDENT_GB) / requestsAtOnce],
    ['webTransferGb', work.bytesOut / GB],
  ]);

const sent = ({ bytesOut, bytesFromBucket }: Workload): number => (bytesOut + bytesFromBucket) / GB;

export const frontDoors = {
  cloudfront: (work: Workload): Estimate =>
    estimate([
      ['edgeRequest', work.requests],
      ['edgeFunction', work.requests],
      ['firewallRequest', work.requests],
      ['edgeGb', sent(work)],
      ['edgeToOriginGb', work.bytesIn / GB],
      ['logGb', (ACCESS_LOG_BYTES * work.requests) / GB],
    ]),
  'api-gateway': (work: Workload): Estimate =>
    estimate([
      [
        'restRequest',
        work.requests - 1 + Math.max(1, Math.ceil((work.bytesOut + work.bytesFromBucket) / REST_CHUNK_BYTES)),
      ],
      ['firewallRequest', work.requests],
      ['internetGb', sent(work)],
      ['logGb', (ACCESS_LOG_BYTES * work.requests) / GB],
    ]),
  none: (work: Workload): Estimate => estimate([['internetGb', sent(work)]]),
};

/** Costs that depend on neither the front door nor the host of the functions. */
export const services = {
  DynamoDB: (work: Workload): Estimate =>
    estimate([
      ['writeUnit', work.writeUnits],
      ['readUnit', work.readUnits],
    ]),
  'logs and traces': (work: Workload): Estimate =>
    estimate([
      ['logGb', work.logBytes / GB],
      ['trace', TRACED_PART * work.invocations],
    ]),
  bucket: (work: Workload): Estimate =>
    estimate([
      ['put', work.puts],
      ['get', work.gets],
      ['bucketGbMonth', (work.objectBytes / GB) * (BUCKET_DAYS / MONTH_DAYS)],
    ]),
  'Step Functions': (work: Workload): Estimate => estimate([['transition', work.transitions]]),
  'to providers, secrets': (work: Workload): Estimate =>
    estimate([
      ['internetGb', work.bytesToVendor / GB],
      ['secretCall', COLD_PART * SECRETS_READ * work.invocations],
    ]),
};

/** Estimates the traffic with providers through NAT gateways. A result passes them as it leaves for a client, or a bucket. */
export const natTraffic = (work: Workload): Estimate =>
  estimate([['natGb', (work.bytesToVendor + Math.max(work.bytesOut, work.objectBytes)) / GB]]);

/** Estimates the monthly cost of storing a million records. Records are kept permanently. */
export const recordsKept = (work: Workload): Estimate =>
  estimate([
    ['tableGbMonth', work.recordBytes / GB],
    ['recoveryGbMonth', work.recordBytes / GB],
  ]);
