import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type {
  VideoAsk,
  VideoCreation,
  VideoFile,
  VideoStatus,
  VideoWire,
} from '../../../lambdas/core/videos/video-wire.ts';
import { type LinkedVideo, linkedVideoHeaders } from '../../../lambdas/providers/linked-video.ts';
import type { WireOptions } from '../../../lambdas/providers/vendor-call.ts';
import { providerOf } from '../core/text/text-models.ts';
import { type Answer, playVendor } from './played-vendor.ts';

export { type Answer, CANARY } from './played-vendor.ts';

type CreateWire = (options: WireOptions & { readonly linkedVideo: LinkedVideo }) => VideoWire;

const provider = providerOf();

/** Simulated provider with a sequence of responses, and the requests that it received. */
export const wireWorld = (create: CreateWire, ...answers: readonly Answer[]) => {
  const { options, seen } = playVendor('https://vendor.test/v1', ...answers, { status: 599 });
  const linkedVideo: LinkedVideo = ({ url, signal }) =>
    options.http({ url, method: 'GET', headers: linkedVideoHeaders, body: '', signal });
  const wire = create({ ...options, linkedVideo });
  const { signal } = new AbortController();
  return {
    ...seen,
    check: async (ask: VideoAsk): Promise<void> => wire.check?.(ask),
    /** Returns the provider's id of the job. */
    create: async (changes: Partial<VideoCreation> = {}): Promise<string> => {
      const created = await wire.create({
        provider,
        upstreamModel: 'vendor-name',
        prompt: 'A cat',
        seconds: 4,
        width: 1280,
        height: 720,
        signal,
        ...changes,
      });
      return created.upstreamId;
    },
    poll: (upstreamId = 'job-1', until = signal): Promise<VideoStatus> =>
      wire.poll({ provider, upstreamId, signal: until }),
  };
};

/** Status that a provider's single response is read as. */
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

/** Error of an action that must fail. */
export const errorOf = async (action: Promise<unknown>): Promise<GatewayError> => {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not a GatewayError: ${String(error)}`);
  return error;
};
