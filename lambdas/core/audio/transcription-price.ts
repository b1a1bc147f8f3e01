import type { TranscriptionModel } from '../catalog/schema.ts';
import { unavailable } from '../paid-call/route-model.ts';
import type { Charge, TokenUsage } from '../pricing/charge.ts';
import type { AudioUsage, TranscriptionAsk } from './audio-wire.ts';
import { wavSecondsAtMost } from './wav-length.ts';

type PriceRow = TranscriptionModel['prices'][number];
type Rates<Unit extends PriceRow['unit']> = Extract<PriceRow, { readonly unit: Unit }>['rates'];

/** What a transcription can cost, and what it comes to. */
export interface TranscriptionMoney {
  readonly holdPicos: bigint;
  /** Pico-USD per unit. */
  readonly prices: Readonly<Record<string, bigint>>;
  /** An answer that counts nothing is an alarm (BILL-10). */
  readonly expectsUsage: boolean;
  /** Of what the vendor counted, only what this price is for: the other form is as good as none. */
  pick(counted: AudioUsage | undefined): AudioUsage | undefined;
  /** No count charges nothing (BILL-10). */
  chargeFor(counted: AudioUsage | undefined): Charge;
}

/** A count beyond so many times what is held for cannot be true: the longest recording is an estimate where no vendor states one. */
const IMPLAUSIBLE_TIMES = 4;
/** Around the client's own prompt a vendor may put words of its own. */
const VENDOR_WORDS_TOKENS = 1_000;

/**
 * A recording's length is held for as far as it is known: of a WAV from its samples, of the rest the longest that the vendor takes. The
 * length is an estimate all the same. What cannot be true is measured by the entry alone, so that no file makes itself cheaper (BILL-7).
 */
export const priceTranscription = (
  row: PriceRow,
  model: TranscriptionModel,
  ask: TranscriptionAsk,
): TranscriptionMoney => {
  const { secondsMax } = model.transcription;
  // The vendor goes by the name: behind another one the same bytes may be taken for something else.
  const wav = /\.wav$/i.test(ask.file.name) ? wavSecondsAtMost(ask.file.bytes) : undefined;
  const seconds = Math.min(Math.ceil(wav ?? secondsMax), secondsMax);
  const { reportsUsage } = model;
  return row.unit === 'audio_minute'
    ? byDuration(row.rates, { seconds, secondsMax, reportsUsage })
    : byTokens(row.rates, model, ask, seconds);
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
  // It divides, or the entry would not have been loaded.
  const second = perMinute / 60n;
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
  // What has no bound cannot be held for, and nothing is sold without.
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
