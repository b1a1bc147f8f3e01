import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { LedgerDependencies } from '../ledger/ledger.ts';
import type { VideoEvent, VideoMeasure } from '../metrics.ts';
import type { VideoJob, VideoJobStore, VideoTimes } from './video-job.ts';
import type { VideoWire } from './video-wire.ts';

/** Dependencies of the steps of a running video. */
export interface VideoStepDependencies {
  readonly catalog: Catalog;
  readonly wires: ReadonlyMap<Wire, VideoWire>;
  readonly jobs: VideoJobStore;
  readonly files: VideoFiles;
  readonly ledger: LedgerDependencies;
  readonly times: VideoTimes;
  readonly notice: (notice: VideoEvent, videoId: string) => void;
  /** Undefined if no meter is used. */
  readonly measured?: (values: Readonly<Partial<Record<VideoMeasure, number>>>) => void;
  /** BILL-10. */
  readonly usageMissing: (modelId: string) => Promise<void>;
  /** One delivery to the client's address. Throws when it was not taken. */
  readonly deliver: (job: VideoJob) => Promise<void>;
}

/** What brings a video to its end: one execution per video, under the video's id. */
export interface VideoWorkflow {
  /** Safe to repeat. `ended`: there was one, and it is over. Throws StoreError when no definite answer came. */
  start(videoId: string): Promise<'running' | 'ended'>;
}

/** Both ends are counted, as in HTTP. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Finished files, by names that are used once. Every method throws StoreError when it brought no definite answer. */
export interface VideoFiles {
  /**
   * Takes a file as it comes, in bounded memory; it is there as a whole or not at all. What `bytes` throws is thrown.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined when there is none. What breaks while it is read is thrown by the iteration. */
  open(name: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Also when there is none. */
  remove(name: string): Promise<void>;
}
