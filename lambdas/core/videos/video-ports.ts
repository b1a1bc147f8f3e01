import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { LedgerPorts } from '../ledger/ledger.ts';
import type { VideoMeasure } from '../measures.ts';
import type { VideoNotice } from '../notices.ts';
import type { VideoJobStore } from './job-store.ts';
import type { VideoFiles } from './video-files.ts';
import type { VideoJob } from './video-job.ts';
import type { VideoWire } from './video-wire.ts';

export interface VideoTimes {
  /** What the vendor has to accept a job. */
  readonly createMs: number;
  /** Between the first polls; later ones are further apart, up to `pollMaxMs`. */
  readonly pollMs: number;
  readonly pollMaxMs: number;
  /** VID-7: an older job fails. */
  readonly limitMs: number;
  /** How long a video's hold lives (BILL-13). */
  readonly holdMs: number;
}

/** What the steps of a running video are built of. */
export interface VideoStepPorts {
  readonly catalog: Catalog;
  readonly wires: ReadonlyMap<Wire, VideoWire>;
  readonly jobs: VideoJobStore;
  readonly files: VideoFiles;
  readonly ledger: LedgerPorts;
  readonly times: VideoTimes;
  readonly notice: (notice: VideoNotice, videoId: string) => void;
  /** Undefined where nobody counts. */
  readonly measured?: (values: Readonly<Partial<Record<VideoMeasure, number>>>) => void;
  /** BILL-10. */
  readonly usageMissing: (modelId: string) => Promise<void>;
  /** One delivery to the client's address. Throws when it was not taken. */
  readonly deliver: (job: VideoJob) => Promise<void>;
}
