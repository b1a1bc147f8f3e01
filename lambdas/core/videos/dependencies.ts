import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { LedgerDependencies } from '../ledger/ledger.ts';
import type { VideoEvent, VideoMeasure } from '../metrics.ts';
import type { MarginMeter } from '../paid-call/dependencies.ts';
import type { DeliveryResult } from '../webhook-delivery.ts';
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
  readonly margin?: MarginMeter;
  /** Reports a response without usage (BILL-10). */
  readonly usageMissing: (modelId: string, accountId: string) => Promise<void>;
  /** Sends one delivery to the client's URL. Throws StoreError if the signing secret cannot be read. */
  readonly deliver: (job: VideoJob) => Promise<DeliveryResult>;
}

/** Runs a video to its end: one execution per video, with the id of the video. */
export interface VideoWorkflow {
  /**
   * Starts the execution. Safe to repeat. `ended`: an earlier execution has ended. Throws StoreError if the result is
   * not definite.
   */
  start(videoId: string): Promise<'running' | 'ended'>;
}

/** Both ends are inclusive, as in HTTP. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Finished files, each under a name that is used once. Every method throws StoreError if the result is not definite.
 */
export interface VideoFiles {
  /**
   * Stores a file as it arrives, in bounded memory. The file is stored completely or not at all. Throws errors of
   * `bytes`.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Returns undefined if the file does not exist. The iteration throws if a read fails. */
  open(name: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes the file, if it exists. */
  remove(name: string): Promise<void>;
}
