import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type {
  VideoAsk,
  VideoCreation,
  VideoFile,
  VideoStatus,
  VideoWire,
} from '../../../lambdas/core/videos/video-wire.ts';
import type { UpstreamRequest } from '../../../lambdas/providers/upstream-http.ts';
import type { WireOptions } from '../../../lambdas/providers/vendor-call.ts';
import { providerOf } from '../core/text/text-models.ts';
import { inPieces } from './openai/stream-reading.ts';

export const CANARY = 'sk-vendor-canary';

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string | AsyncIterable<Uint8Array>;
}

type CreateWire = (options: WireOptions) => VideoWire;

const provider = providerOf();

/** A vendor that gives one answer after another, and what it was sent. */
export const wireWorld = (create: CreateWire, ...answers: readonly Answer[]) => {
  const requests: UpstreamRequest[] = [];
  const notices: string[] = [];
  const wire = create({
    http: async (request) => {
      request.signal.throwIfAborted();
      const { status = 200, headers = {}, body = '' } = answers[requests.push(request) - 1] ?? { status: 599 };
      return { status, headers, body: bytesOf(body), discard: () => undefined };
    },
    access: () => ({ baseUrl: 'https://vendor.test/v1', key: CANARY }),
    notice: (notice, provider) => notices.push(`${notice} ${provider}`),
    now: () => 0,
    random: () => 0,
  });
  const { signal } = new AbortController();
  return {
    requests,
    notices,
    check: async (ask: VideoAsk): Promise<void> => wire.check?.(ask),
    create: (changes: Partial<VideoCreation> = {}): Promise<string> =>
      wire.create({
        provider,
        upstreamModel: 'vendor-name',
        prompt: 'A cat',
        seconds: 4,
        width: 1280,
        height: 720,
        signal,
        ...changes,
      }),
    poll: (upstreamId = 'job-1', until = signal): Promise<VideoStatus> =>
      wire.poll({ provider, upstreamId, signal: until }),
  };
};

const bytesOf = (body: NonNullable<Answer['body']>): AsyncIterable<Uint8Array> => {
  if (typeof body === 'string') return inPieces(body);
  return Symbol.asyncIterator in body ? body : inPieces(JSON.stringify(body));
};

/** The status that a vendor's one answer is read as. */
export const statusOf = async (create: CreateWire, answer: Answer): Promise<VideoStatus> =>
  wireWorld(create, answer).poll();

export const failureOf = (status: VideoStatus) => {
  if (status.kind !== 'failed') throw new Error(`a status of ${status.kind}`);
  return status.failure;
};

export const opened = (status: VideoStatus): Promise<VideoFile> => {
  if (status.kind !== 'succeeded') throw new Error(`a status of ${status.kind}`);
  return status.open();
};

export const wholeOf = async ({ bytes }: VideoFile): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

/** What an action that must not succeed throws. */
export const errorOf = async (action: Promise<unknown>): Promise<GatewayError> => {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not a GatewayError: ${String(error)}`);
  return error;
};
