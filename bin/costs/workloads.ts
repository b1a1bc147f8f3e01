import { functions } from '../../lib/functions.ts';

/** One thing that a client gets, and what is used for it. Times are in seconds, sizes in bytes. */
export interface Workload {
  readonly title: string;
  /** The requests it takes; an image or a video is fetched by one of its own. */
  readonly requests: number;
  /** Of those, the ones that a function with a URL answers; and what else calls functions, such as the state machine. */
  readonly invocations: number;
  /** How long these run, together. A function waits for its vendor, and is paid for that. */
  readonly seconds: number;
  /** Of the function that takes most of it. */
  readonly memoryMb: number;
  /** Of a processor, measured on a laptop's: `docs/operations/costs.md` says how. */
  readonly cpuSeconds: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** The largest answer that a function with a URL sends. */
  readonly largestAnswer: number;
  /** The answer goes through CloudFront alone, from the bucket. */
  readonly bytesFromBucket: number;
  readonly bytesToVendor: number;
  readonly writeUnits: number;
  /** At most: what is known of a model's circuit is read again after 5 s, in each process. */
  readonly readUnits: number;
  /** Kept in tables for good. */
  readonly recordBytes: number;
  readonly logBytes: number;
  readonly puts: number;
  readonly gets: number;
  /** Kept in the bucket for two days. */
  readonly objectBytes: number;
  readonly transitions: number;
}

const request = {
  requests: 1,
  invocations: 1,
  memoryMb: functions.text.memoryMb,
  bytesFromBucket: 0,
  // The address's bucket, the key, the hold, the charge record, the account (test/service/store-units.long.test.ts).
  writeUnits: 5,
  readUnits: 4,
  recordBytes: 600,
  // The record of the request, its metrics, and what Lambda says of each call.
  logBytes: 2_500,
  puts: 0,
  gets: 0,
  objectBytes: 0,
  transitions: 0,
};

/** 25 parts of 8 MiB, the beginning and the end. */
const VIDEO_PUTS = 27;
/** Looks at the vendor within ten minutes, ever further apart. */
const VIDEO_POLLS = 15;
/** Questions of the client for the state, twice a minute. */
const VIDEO_QUESTIONS = 20;

export const workloads = {
  shortChat: {
    ...request,
    title: 'short chat: 3 s, 1 KB in, 2 KB out',
    seconds: 3,
    cpuSeconds: 0.014,
    bytesIn: 1_000,
    bytesOut: 2_000,
    largestAnswer: 2_000,
    bytesToVendor: 1_000,
  },
  longStream: {
    ...request,
    title: 'long stream: 60 s, 20 KB in, 600 KB out in 3,000 events',
    seconds: 60,
    cpuSeconds: 0.041,
    bytesIn: 20_000,
    bytesOut: 600_000,
    largestAnswer: 600_000,
    bytesToVendor: 20_000,
  },
  embedding: {
    ...request,
    title: 'embedding: 0.3 s, 2 KB in, 33 KB out',
    seconds: 0.3,
    cpuSeconds: 0.013,
    bytesIn: 2_000,
    bytesOut: 33_000,
    largestAnswer: 33_000,
    bytesToVendor: 2_000,
  },
  image: {
    ...request,
    title: 'image behind a link: 15 s, and 2 MB fetched once',
    requests: 2,
    seconds: 15,
    memoryMb: functions.images.memoryMb,
    cpuSeconds: 0.103,
    bytesIn: 1_000,
    bytesOut: 1_000,
    largestAnswer: 1_000,
    bytesFromBucket: 2_000_000,
    bytesToVendor: 1_000,
    puts: 1,
    gets: 1,
    objectBytes: 2_000_000,
  },
  video: {
    ...request,
    title: 'video of 200 MB: ten minutes, asked for 20 times, fetched once',
    requests: 1 + VIDEO_QUESTIONS + 1,
    // The last three steps of the machine: store, charge, finish.
    invocations: 1 + VIDEO_QUESTIONS + VIDEO_POLLS + 3,
    seconds: 3 + VIDEO_QUESTIONS * 0.05 + VIDEO_POLLS * 0.5 + 30,
    memoryMb: functions.videoSteps.memoryMb,
    cpuSeconds: 1,
    bytesIn: 2_000,
    bytesOut: 200_000_000,
    // The file goes out by the Web Function.
    largestAnswer: 1_000,
    bytesToVendor: 10_000,
    writeUnits: 17 + 2 * VIDEO_QUESTIONS + 2,
    readUnits: VIDEO_POLLS + 8 + VIDEO_QUESTIONS + 1,
    recordBytes: 1_200,
    logBytes: 2_500 * (1 + VIDEO_QUESTIONS + 1) + 500 * (VIDEO_POLLS + 3),
    puts: VIDEO_PUTS,
    gets: 1,
    objectBytes: 200_000_000,
    transitions: 51,
  },
} as const satisfies Record<string, Workload>;
