import { costOf, type PriceName } from './prices.ts';
import type { Workload } from './workloads.ts';

/** What is used for a million of something, and what that costs; undefined if a part of it has no published price. */
export interface Estimate {
  readonly picos: bigint | undefined;
  readonly parts: readonly (readonly [PriceName, quantity: number])[];
}

const MILLION = 1_000_000;
const GB = 1_000_000_000;
const FREE_STREAM_BYTES = 6_000_000;
const REST_CHUNK_BYTES = 10_000_000;
/** What the front door writes down of a request. */
const ACCESS_LOG_BYTES = 600;
/** X-Ray takes one request of a second and a twentieth of the rest. */
const TRACED_PART = 0.05;
/** Environments that begin, for each request, and the secrets that each of them reads. */
const COLD_PART = 0.01;
const SECRETS_READ = 3;
const BUCKET_DAYS = 2;
const MONTH_DAYS = 30;
/** What a server that answers requests keeps in memory (measured). */
const WEB_RESIDENT_GB = 0.4;

const estimate = (perOne: readonly (readonly [PriceName, number])[]): Estimate => {
  const parts = perOne.map(([name, quantity]) => [name, quantity * MILLION] as const).filter(([, much]) => much > 0);
  return { picos: sumOf(parts.map(([name, quantity]) => costOf(name, quantity))), parts };
};

/** Undefined if one of them is. */
export const sumOf = (costs: readonly (bigint | undefined)[]): bigint | undefined =>
  costs.reduce<bigint | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0n,
  );

/** A function with a URL: an environment for each request, paid by its memory for as long as the request takes. */
export const functionHost = (work: Workload, memoryMb: number = work.memoryMb): Estimate =>
  estimate([
    ['lambdaRequest', work.invocations],
    ['lambdaGbSecond', work.seconds * (memoryMb / 1_024)],
    ['lambdaStreamedGb', Math.max(0, work.largestAnswer - FREE_STREAM_BYTES) / GB],
  ]);

/**
 * A Web Function, where inference runs in one: processor time in use, memory in use for as long as its environments live, requests,
 * and bytes.
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

/** What it takes whatever stands before and wherever it runs. */
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
  'to vendors, secrets': (work: Workload): Estimate =>
    estimate([
      ['internetGb', work.bytesToVendor / GB],
      ['secretCall', COLD_PART * SECRETS_READ * work.invocations],
    ]),
};

/** What the records of a million cost in each month from then on, since they are kept for good. */
export const recordsKept = (work: Workload): Estimate =>
  estimate([
    ['tableGbMonth', work.recordBytes / GB],
    ['recoveryGbMonth', work.recordBytes / GB],
  ]);
