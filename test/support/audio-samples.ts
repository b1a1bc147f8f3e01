import type { TokenUsage } from '../../lambdas/core/pricing/charge.ts';
import { text, upstream, without } from '../lambdas/core/catalog/sample-data.ts';

type Json = Readonly<Record<string, unknown>>;

const common = ['capabilities', 'limits', 'reasoning'].reduce(without, text());

/** Price of a second in pico-USD: 0.006 USD a minute. */
export const SECOND = 100_000_000n;

/** Transcription model priced by the minute. */
export const transcription = (changes: Json = {}): Json => ({
  ...common,
  id: 'scribe-1',
  kind: 'transcription',
  protocols: ['audio_transcriptions'],
  upstreams: [upstream({ wire: 'openai_audio', model: 'vendor-scribe' })],
  inputTypes: ['audio'],
  outputTypes: ['text'],
  transcription: { secondsMax: 600, formats: ['mp3', 'wav', 'm4a'] },
  prices: [{ unit: 'audio_minute', rates: { perMinute: '0.006' } }],
  ...changes,
});

/** Transcription model priced by tokens: 2, 6 and 10 USD per million. */
export const tokenTranscription = (changes: Json = {}): Json =>
  transcription({
    id: 'scribe-2',
    transcription: { secondsMax: 100, tokensPerSecond: 10, outputTokensMax: 200, formats: ['mp3', 'wav'] },
    prices: [{ unit: '1M_tokens', rates: { textInput: '2', audioInput: '6', textOutput: '10' } }],
    ...changes,
  });

/** Price of a character in pico-USD: 15 USD per million characters. */
export const CHARACTER = 15_000_000n;

export const speech = (changes: Json = {}): Json => ({
  ...common,
  id: 'voice-1',
  kind: 'speech',
  protocols: ['audio_speech'],
  upstreams: [upstream({ wire: 'openai_audio', model: 'vendor-voice' })],
  outputTypes: ['audio'],
  speech: { voices: ['alloy', 'echo'], formats: ['mp3', 'opus', 'wav'], maxCharacters: 20 },
  reportsUsage: false,
  prices: [{ unit: '1M_characters', rates: { input: '15' } }],
  ...changes,
});

export const audioTokens = (input: number, audioInput: number, output: number): TokenUsage => ({
  input,
  audioInput,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output,
  reasoning: 0,
});

interface WavOptions {
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly coding?: number;
  /** Chunk between the format and the samples, including its header. */
  readonly between?: Uint8Array;
  /** Length of the samples that the file declares, in bytes. By default the true one. */
  readonly claimed?: number;
}

/** Returns a WAV file with `seconds` of silence. */
export const wavOf = (seconds: number, options: WavOptions = {}): Buffer => {
  const { rate = 8_000, channels = 1, bits = 16, coding = 1, between = Buffer.alloc(0) } = options;
  const sampleBytes = (bits / 8) * channels;
  const samples = Buffer.alloc(Math.round(seconds * rate) * sampleBytes);
  const head = Buffer.alloc(36);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + between.length + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(coding, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * sampleBytes, 28);
  head.writeUInt16LE(sampleBytes, 32);
  head.writeUInt16LE(bits, 34);
  const data = Buffer.from('data\0\0\0\0');
  data.writeUInt32LE(options.claimed ?? samples.length, 4);
  return Buffer.concat([head, between, data, samples]);
};
