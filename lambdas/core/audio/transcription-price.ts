import type { TranscriptionModel } from '../catalog/schema.ts';
import { unavailable } from '../paid-call/route-model.ts';
import type { Charge, TokenUsage } from '../pricing/charge.ts';
import type { AudioUsage, TranscriptionAsk } from './audio-wire.ts';

type PriceRow = TranscriptionModel['prices'][number];

type Rates<Unit extends PriceRow['unit']> = Extract<PriceRow, { readonly unit: Unit }>['rates'];

/** Hold of a transcription and the function that computes its charge. */
interface TranscriptionMoney {
  readonly holdPicos: bigint;
  /** Pico-USD per unit. */
  readonly prices: Readonly<Record<string, bigint>>;
  /** Whether missing usage raises an alarm (BILL-10). */
  readonly expectsUsage: boolean;
  /** Returns the usage if it has the unit of this price; undefined if the provider counted in the other unit. */
  pick(counted: AudioUsage | undefined): AudioUsage | undefined;
  /** Returns the charge. Missing usage charges nothing (BILL-10). */
  chargeFor(counted: AudioUsage | undefined): Charge;
}

/**
 * Counts above this multiple of the maximum are implausible. The margin is wide because the maximum length of a
 * recording is an estimate if the provider does not state it.
 */
const IMPLAUSIBLE_TIMES = 4;

/** Tokens that a provider may add around the client's prompt. */
const VENDOR_WORDS_TOKENS = 1_000;

/**
 * Prices a transcription. The hold covers an estimated length: the length of the samples in a WAV file, or else the
 * longest recording that the provider accepts. The bound of plausible audio and output counts comes from the catalog
 * entry alone, so that no file can lower its own charge (BILL-7).
 */
export const priceTranscription = (
  row: PriceRow,
  model: TranscriptionModel,
  ask: TranscriptionAsk,
): TranscriptionMoney => {
  const { secondsMax } = model.transcription;
  // The provider identifies the format by the extension, so it may decode the same bytes differently under another
  // name.
  const wav = /\.wav$/i.test(ask.file.name) ? wavSecondsAtMost(ask.file.bytes) : undefined;
  const seconds = Math.min(Math.ceil(wav ?? secondsMax), secondsMax);
  const { reportsUsage } = model;
  return row.unit === 'audio_minute'
    ? byDuration(row.rates, { seconds, secondsMax, reportsUsage })
    : byTokens(row.rates, model, ask, seconds);
};

/** Loading the catalog checks that the price of a minute divides by 60. */
const secondOf = (perMinute: bigint): bigint => perMinute / 60n;

/** Pico-USD per second or per token. */
export const transcriptionPrices = (row: PriceRow): Readonly<Record<string, bigint>> =>
  row.unit === 'audio_minute'
    ? { second: secondOf(row.rates.perMinute) }
    : { input: row.rates.textInput, audioInput: row.rates.audioInput, output: row.rates.textOutput };

/**
 * Returns the price of a recording without a prompt, in pico-USD. Undefined if the entry does not state the tokens of a
 * second.
 */
export const priceSeconds = (
  row: PriceRow,
  { transcription: { tokensPerSecond } }: TranscriptionModel,
  { seconds, outputTokens }: { readonly seconds: number; readonly outputTokens: number },
): bigint | undefined => {
  if (row.unit === 'audio_minute') return secondOf(row.rates.perMinute) * BigInt(seconds);
  if (tokensPerSecond === undefined) return undefined;
  const { audioInput, textOutput } = row.rates;
  return BigInt(seconds * tokensPerSecond) * audioInput + BigInt(outputTokens) * textOutput;
};

interface Lengths {
  readonly seconds: number;
  readonly secondsMax: number;
  readonly reportsUsage: boolean;
}

const byDuration = (
  { perMinute }: Rates<'audio_minute'>,
  { seconds: held, secondsMax, reportsUsage }: Lengths,
): TranscriptionMoney => {
  const second = secondOf(perMinute);
  const prices = { second };
  return {
    holdPicos: BigInt(held) * second,
    prices,
    expectsUsage: reportsUsage && second > 0n,
    pick: (counted) => (counted?.kind === 'duration' ? counted : undefined),
    chargeFor: (counted): Charge => {
      if (counted?.kind !== 'duration') return { amountPicos: 0n, prices, usage: {}, implausible: false };
      const seconds = Math.ceil(counted.seconds);
      return {
        amountPicos: BigInt(Math.min(seconds, secondsMax * IMPLAUSIBLE_TIMES)) * second,
        prices,
        usage: { second: seconds },
        implausible: seconds > secondsMax * IMPLAUSIBLE_TIMES,
      };
    },
  };
};

const byTokens = (
  { textInput, audioInput, textOutput }: Rates<'1M_tokens'>,
  model: TranscriptionModel,
  { prompt = '' }: TranscriptionAsk,
  seconds: number,
): TranscriptionMoney => {
  const { secondsMax, tokensPerSecond, outputTokensMax } = model.transcription;
  // The hold needs both limits. Without them the model is unavailable.
  if (tokensPerSecond === undefined || outputTokensMax === undefined) throw unavailable(model);
  const promptTokens = Buffer.byteLength(prompt);
  const prices = { input: textInput, audioInput, output: textOutput };
  const priceOf = (text: number, audio: number, output: number): bigint =>
    BigInt(text) * textInput + BigInt(audio) * audioInput + BigInt(output) * textOutput;
  const most = {
    text: promptTokens + VENDOR_WORDS_TOKENS,
    audio: secondsMax * tokensPerSecond * IMPLAUSIBLE_TIMES,
    output: outputTokensMax * IMPLAUSIBLE_TIMES,
  };
  return {
    holdPicos: priceOf(promptTokens, seconds * tokensPerSecond, outputTokensMax),
    prices,
    expectsUsage: model.reportsUsage && textInput + audioInput + textOutput > 0n,
    pick: (counted) => (counted?.kind === 'tokens' ? counted : undefined),
    chargeFor: (counted): Charge => {
      if (counted?.kind !== 'tokens') return { amountPicos: 0n, prices, usage: {}, implausible: false };
      const { input, audioInput: audio = 0, output } = counted.tokens;
      return {
        amountPicos: priceOf(Math.min(input, most.text), Math.min(audio, most.audio), Math.min(output, most.output)),
        prices,
        usage: recorded(counted.tokens),
        implausible: input > most.text || audio > most.audio || output > most.output,
      };
    },
  };
};

const recorded = ({ input, audioInput = 0, output }: TokenUsage): Charge['usage'] => ({ input, audioInput, output });

/** Maximum number of chunks that are searched for the samples. */
const CHUNKS_MAX = 64;

const PCM = 1;

const FLOAT = 3;

/** More channels than any recorder writes. Such a header would make the recording look shorter. */
const CHANNELS_MAX = 8;

const SAMPLES_PER_SECOND_MAX = 192_000;

const BITS: readonly number[] = [8, 16, 24, 32];

/**
 * Returns the longest duration that a WAV file of uncompressed samples can have, in seconds; undefined for other files.
 * Divides the bytes after the `data` header by channels x sample rate x sample size. Ignores the stated data length and
 * byte rate, because a decoder may ignore them too.
 * https://learn.microsoft.com/windows/win32/medfound/tutorial--decoding-audio#file-header
 */
export const wavSecondsAtMost = (bytes: Uint8Array): number | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || nameAt(bytes, 0) !== 'RIFF' || nameAt(bytes, 8) !== 'WAVE') return undefined;
  let bytesPerSecond: number | undefined;
  let at = 12;
  for (let chunk = 0; chunk < CHUNKS_MAX && at + 8 <= bytes.length; chunk += 1) {
    const name = nameAt(bytes, at);
    const length = view.getUint32(at + 4, true);
    if (name === 'data') return bytesPerSecond && (bytes.length - at - 8) / bytesPerSecond;
    if (name === 'fmt ' && bytesPerSecond !== undefined) return undefined;
    if (name === 'fmt ') bytesPerSecond = rateOf(view, at + 8, length);
    // Chunks start at even offsets.
    at += 8 + length + (length % 2);
  }
  return undefined;
};

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));

const rateOf = (view: DataView, at: number, length: number): number | undefined => {
  if (length < 16 || at + 16 > view.byteLength) return undefined;
  const coding = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const samplesPerSecond = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const frameBytes = view.getUint16(at + 12, true);
  // The extensible format states the actual format in a separate field, so it is not accepted here.
  if ((coding !== PCM && coding !== FLOAT) || !BITS.includes(bits)) return undefined;
  if (channels > CHANNELS_MAX || samplesPerSecond > SAMPLES_PER_SECOND_MAX) return undefined;
  if (frameBytes !== channels * (bits / 8)) return undefined;
  return channels * samplesPerSecond * (bits / 8) || undefined;
};
