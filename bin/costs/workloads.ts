import { functions } from '../../lib/functions.ts';

/** Resources used for one result that a client receives. Times are in seconds, sizes in bytes. */
export interface Workload {
  readonly title: string;
  /** Number of HTTP requests. Downloading an image or video is a separate request. */
  readonly requests: number;
  /**
   * Number of Lambda invocations: requests that a function with a URL serves, and calls by others, such as the state
   * machine.
   */
  readonly invocations: number;
  /** Total duration of the invocations. It includes waiting for the provider. */
  readonly seconds: number;
  /** Memory of the function that takes most of the time. */
  readonly memoryMb: number;
  /** Processor time as measured on x86; `docs/operations/costs.md` describes the measurement. */
  readonly cpuSeconds: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Size of the largest response that a function with a URL sends. */
  readonly largestAnswer: number;
  /** Size of responses that CloudFront serves from the bucket, without a function. */
  readonly bytesFromBucket: number;
  readonly bytesToVendor: number;
  readonly writeUnits: number;
  /** Upper bound: each process reads a model's circuit state again after 5 s. */
  readonly readUnits: number;
  /** Size of the records that stay in tables permanently. */
  readonly recordBytes: number;
  readonly logBytes: number;
  readonly puts: number;
  readonly gets: number;
  /** Size of the objects that stay in the bucket for two days. */
  readonly objectBytes: number;
  readonly transitions: number;
}

const request = {
  requests: 1,
  invocations: 1,
  memoryMb: functions.text.memoryMb,
  bytesFromBucket: 0,
  // Writes: counter of the client IP, API key, hold, charge record, account (test/service/store-units.long.test.ts).
  writeUnits: 5,
  readUnits: 4,
  recordBytes: 600,
  // Logs: the request's record, its metrics, and Lambda's own lines for each invocation.
  logBytes: 2_500,
  puts: 0,
  gets: 0,
  objectBytes: 0,
  transitions: 0,
};

/** Calls of one multipart upload: 25 parts of 8 MiB, its creation and its completion. */
const VIDEO_PUTS = 27;
/** Number of polls at the provider within ten minutes, at growing intervals. */
const VIDEO_POLLS = 15;
/** Number of polls by the client, two per minute. */
const VIDEO_QUESTIONS = 20;

export const workloads = {
  shortChat: {
    ...request,
    title: 'short chat: 3 s, 1 KB in, 2 KB out',
    seconds: 3,
    cpuSeconds: 0.009,
    bytesIn: 1_000,
    bytesOut: 2_000,
    largestAnswer: 2_000,
    bytesToVendor: 1_000,
  },
  longStream: {
    ...request,
    title: 'long stream: 60 s, 20 KB in, 600 KB out in 3,000 events',
    seconds: 60,
    cpuSeconds: 0.026,
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
    title: 'image behind a link: 15 s, and 2 MB downloaded once',
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
    title: 'video of 200 MB: ten minutes, polled 20 times, downloaded once',
    requests: 1 + VIDEO_QUESTIONS + 1,
    // Includes the three last steps of the workflow: store, charge, finish.
    invocations: 1 + VIDEO_QUESTIONS + VIDEO_POLLS + 3,
    seconds: 3 + VIDEO_QUESTIONS * 0.05 + VIDEO_POLLS * 0.5 + 30,
    memoryMb: functions.videoSteps.memoryMb,
    cpuSeconds: 1,
    bytesIn: 2_000,
    bytesOut: 200_000_000,
    // The Web Function, not a function with a URL, sends the video.
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
