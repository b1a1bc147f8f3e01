import type { Wire } from '../catalog/providers.ts';
import type { ErrorCode } from '../errors/gateway-error.ts';

/** VID-3: only forward, and `completed` or `failed` for good. */
export type VideoState = 'queued' | 'in_progress' | 'completed' | 'failed';

/** What a video costs, as it stood when its hold was placed (BILL-3). */
export interface VideoTerms {
  readonly unit: 'token' | 'second';
  /** Pico-USD per unit. */
  readonly ratePicos: bigint;
  /** A count above this cannot be true (BILL-7). */
  readonly unitsMax: number;
}

export interface VideoFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A finished file as it lies in the bucket. */
export interface StoredFile {
  /** Of the object: each attempt to store has one of its own, so that a late one never replaces what was charged. */
  readonly name: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** Where a client wants to be told. */
export interface Webhook {
  readonly url: string;
  /** What deliveries are signed with. Never shown. */
  readonly secret: string;
}

/** What is known when a video is asked for, and never changes. */
export interface VideoOrderRecord {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly holdId: string;
  readonly holdAmountPicos: bigint;
  readonly modelId: string;
  readonly providerId: string;
  readonly wire: Wire;
  /** The vendor's own name of the model. */
  readonly upstreamModel: string;
  readonly prompt: string;
  /** Whole seconds. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly createdAtMs: number;
  readonly terms: VideoTerms;
  readonly webhook?: Webhook | undefined;
}

/** One video from its creation to its end: the record that commits the creation. */
export interface VideoJob extends VideoOrderRecord {
  readonly state: VideoState;
  /** From 0 to 100. */
  readonly progress: number;
  /** The vendor's name of the job. Without one nothing is ever charged. */
  readonly upstreamId?: string | undefined;
  /** The creation itself was refused: its client has an error, and no list shows it. */
  readonly refused: boolean;
  /** Why it failed, or is about to. */
  readonly failure?: VideoFailure | undefined;
  readonly file?: StoredFile | undefined;
  /** What the vendor counts by; undefined until the file is stored, or where it counts nothing. */
  readonly tokens?: number | undefined;
  readonly completedAtMs?: number | undefined;
}

/** VID-7. */
export const CONTENT_KEPT_MS = 24 * 60 * 60 * 1_000;

export const isEnded = ({ state }: VideoJob): boolean => state === 'completed' || state === 'failed';

/** A request makes one video at most, so that whoever knows the request finds what it made. */
export const videoIdOf = (requestId: string): string => `video_${requestId}`;

const idForm = /^video_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isVideoId = (text: string): boolean => idForm.test(text);
