import type { Provider } from '../catalog/schema.ts';
import type { ImageMediaType } from '../image-type.ts';
import type { VideoFailure } from './video-job.ts';

/** The first frame. */
export interface ReferenceImage {
  readonly mediaType: ImageMediaType;
  readonly bytes: Uint8Array;
}

/** Parameters of a video. */
export interface VideoAsk {
  readonly prompt: string;
  /** Whole seconds. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly reference?: ReferenceImage | undefined;
}

export interface VideoCreation extends VideoAsk {
  readonly provider: Provider;
  readonly upstreamModel: string;
  /** Its reason is the GatewayError to end with. */
  readonly signal: AbortSignal;
}

export interface UpstreamJob {
  readonly provider: Provider;
  readonly upstreamId: string;
  readonly signal: AbortSignal;
}

export interface VideoFile {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** As announced. */
  readonly length: number | undefined;
}

/** `unknown`: the vendor said nothing that could be understood, and the job stays as it is (VID-7). */
export type VideoStatus =
  | { readonly kind: 'queued' | 'unknown' }
  | { readonly kind: 'running'; readonly progress: number | undefined }
  /** `tokens`: what the vendor counts by, if it does. `open` begins a download and throws GatewayError. */
  | { readonly kind: 'succeeded'; readonly tokens: number | undefined; readonly open: () => Promise<VideoFile> }
  | { readonly kind: 'failed'; readonly failure: VideoFailure }
  /** The vendor does not know the job. */
  | { readonly kind: 'gone' };

/** A vendor's protocol for videos. */
export interface VideoWire {
  /** What this protocol has no safe place for is refused before money is held. Throws GatewayError. */
  check?(ask: VideoAsk): void;
  /** One call that is never repeated. Answers the vendor's id of the job; throws GatewayError. */
  create(creation: VideoCreation): Promise<string>;
  /** Throws GatewayError when no answer came. */
  poll(job: UpstreamJob): Promise<VideoStatus>;
}
