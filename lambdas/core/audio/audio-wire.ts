import type { Provider, SpeechModel, Upstream } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';
import type { TokenUsage } from '../pricing/charge.ts';

interface AudioCall {
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Aborted when the upstream's time is over. Its reason is the GatewayError to end with. */
  readonly signal: AbortSignal;
}

/** A file as the vendor is to have it: it goes by the ending of the name. */
export interface AudioFile {
  readonly name: string;
  /** What the client says it is; empty when it says nothing. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** What is asked of a transcription model, valid for its entry (AUD-1). */
export interface TranscriptionAsk {
  readonly file: AudioFile;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** As the client wrote it. */
  readonly temperature: string | undefined;
}

export interface TranscriptionCall extends TranscriptionAsk, AudioCall {}

/** What the vendor bills by, in one of its two forms; `seconds` may be a fraction. */
export type AudioUsage =
  | { readonly kind: 'tokens'; readonly tokens: TokenUsage }
  | { readonly kind: 'duration'; readonly seconds: number };

export interface Transcript {
  readonly text: string;
  /** Undefined when the vendor said nothing that can be counted. */
  readonly counted: AudioUsage | undefined;
  /** The same in the vendor's own words, for the client. */
  readonly reported: JsonObject | undefined;
}

/** Makes exactly one call (GEN-5). */
export interface TranscriptionWire {
  transcribe(call: TranscriptionCall): Promise<Transcript>;
}

export type SpeechFormat = SpeechModel['speech']['formats'][number];

/** What is asked of a speech model, valid for its entry (AUD-3). */
export interface SpeechAsk {
  readonly text: string;
  readonly voice: string;
  readonly format: SpeechFormat;
  /** 1 is the voice's own pace; undefined where the client says nothing. */
  readonly speed: number | undefined;
}

export interface SpeechCall extends SpeechAsk, AudioCall {}

/** Sound on its way. */
export interface SpeechStream {
  /** The vendor's own content type, if it is one of sound. */
  readonly mediaType: string | undefined;
  /** Throws when the connection breaks before the end, and the signal's reason when it is aborted. */
  readonly bytes: AsyncIterator<Uint8Array, unknown>;
  /** Nothing more is read. */
  close(): void;
}

/** Makes exactly one call (GEN-5). */
export interface SpeechWire {
  speak(call: SpeechCall): Promise<SpeechStream>;
}
