import type { Provider, SpeechModel, Upstream } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';
import type { TokenUsage } from '../pricing/charge.ts';

interface AudioCall {
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Aborted at the upstream's timeout. Its reason is the GatewayError for the client. */
  readonly signal: AbortSignal;
}

/** Audio file for the provider, which identifies the format by the file extension. */
export interface AudioFile {
  readonly name: string;
  /** Media type that the client declares; empty if it declares none. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Parameters of a transcription, valid for the catalog entry (AUD-1). */
export interface TranscriptionAsk {
  readonly file: AudioFile;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** As the client wrote it. */
  readonly temperature: string | undefined;
}

export interface TranscriptionCall extends TranscriptionAsk, AudioCall {}

/** Billed usage of the provider, in tokens or in seconds. `seconds` may be a fraction. */
export type AudioUsage =
  | { readonly kind: 'tokens'; readonly tokens: TokenUsage }
  | { readonly kind: 'duration'; readonly seconds: number };

export interface Transcript {
  readonly text: string;
  /** Undefined if the provider reported no usable counts. */
  readonly counted: AudioUsage | undefined;
  /** Usage in the provider's own form, for the client. */
  readonly reported: JsonObject | undefined;
}

/** Transcribes a recording with exactly one call (GEN-5). */
export interface TranscriptionWire {
  transcribe(call: TranscriptionCall): Promise<Transcript>;
}

export type SpeechFormat = SpeechModel['speech']['formats'][number];

/** Parameters of speech, valid for the catalog entry (AUD-3). */
export interface SpeechAsk {
  readonly text: string;
  readonly voice: string;
  readonly format: SpeechFormat;
  /** 1 is the normal pace of the voice; undefined if the client sets none. */
  readonly speed: number | undefined;
}

export interface SpeechCall extends SpeechAsk, AudioCall {}

/** Audio that is being received. */
export interface SpeechStream {
  /** Content type that the provider sent, if it is an audio type. */
  readonly mediaType: string | undefined;
  /** Throws if the connection breaks before the end, and throws the signal's reason if it is aborted. */
  readonly bytes: AsyncIterator<Uint8Array, unknown>;
  /** Stops reading. */
  close(): void;
}

/** Generates speech with exactly one call (GEN-5). */
export interface SpeechWire {
  speak(call: SpeechCall): Promise<SpeechStream>;
}

/**
 * Returns the file extension that matches the first bytes of a recording. Needs 12 bytes. Undefined if the format is
 * unknown.
 */
export const sniffAudio = (bytes: Uint8Array): string | undefined => {
  const text = (from: number, length: number): string => String.fromCharCode(...bytes.subarray(from, from + length));
  if (text(0, 4) === 'RIFF' && text(8, 4) === 'WAVE') return 'wav';
  if (text(0, 4) === 'fLaC') return 'flac';
  if (text(0, 4) === 'OggS') return 'ogg';
  if (text(4, 4) === 'ftyp') return text(8, 3) === 'M4A' ? 'm4a' : 'mp4';
  if (text(0, 4) === '\x1a\x45\xdf\xa3') return 'webm';
  return text(0, 3) === 'ID3' || isMpegLayer3(bytes) ? 'mp3' : undefined;
};

/**
 * Whether the bytes start an MPEG frame: eleven bits that are set, and the layer
 * (https://www.rfc-editor.org/rfc/rfc3003, ISO 11172-3).
 */
const isMpegLayer3 = ([first = 0, second = 0]: Uint8Array): boolean =>
  first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) === 0x02;
