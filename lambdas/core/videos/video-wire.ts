import type { Provider } from '../catalog/schema.ts';
import type { ImageMediaType } from '../image-type.ts';
import type { CreatedJob, VideoFailure } from './video-job.ts';

/** Image for the first frame. */
export interface ReferenceImage {
  readonly mediaType: ImageMediaType;
  readonly bytes: Uint8Array;
}

/** Parameters of a video. */
export interface VideoAsk {
  readonly prompt: string;
  /** In whole seconds. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly reference?: ReferenceImage | undefined;
}

export interface VideoCreation extends VideoAsk {
  readonly provider: Provider;
  readonly upstreamModel: string;
  /** Its reason is the GatewayError for the client. */
  readonly signal: AbortSignal;
}

export interface UpstreamJob {
  readonly provider: Provider;
  readonly upstreamId: string;
  /** Credential that created the job; undefined for a job of an older release. */
  readonly credentialId?: string | undefined;
  readonly signal: AbortSignal;
}

export interface VideoFile {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Length that the provider announced, in bytes. */
  readonly length: number | undefined;
}

/** `unknown`: the response could not be understood, and the job stays as it is (VID-7). */
export type VideoStatus =
  | { readonly kind: 'queued' | 'unknown' }
  | { readonly kind: 'running'; readonly progress: number | undefined }
  /** `tokens`: the provider's count, if it reports one. `open` starts the download and throws GatewayError. */
  | { readonly kind: 'succeeded'; readonly tokens: number | undefined; readonly open: () => Promise<VideoFile> }
  | { readonly kind: 'failed'; readonly failure: VideoFailure }
  /** The provider does not know the job. */
  | { readonly kind: 'gone' };

/** Protocol of a provider for videos. */
export interface VideoWire {
  /** Throws a GatewayError for a request that this protocol cannot carry, before the hold. */
  check?(ask: VideoAsk): void;
  /** Makes one call that is never repeated. Throws GatewayError. */
  create(creation: VideoCreation): Promise<CreatedJob>;
  /** Throws GatewayError if no response came. */
  poll(job: UpstreamJob): Promise<VideoStatus>;
}
