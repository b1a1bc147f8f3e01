import type { SpeechFormat } from '../../core/audio/audio-wire.ts';
import { type SpeakDependencies, type Speech, speak } from '../../core/audio/speak.ts';
import { type TranscribeDependencies, transcribe } from '../../core/audio/transcribe.ts';
import type { SpeechModel } from '../../core/catalog/schema.ts';
import { BinaryStream } from '../../http/binary-stream.ts';
import { canBreak, endCut, isCut, markAsCut } from '../../http/cut-answers.ts';
import { planAnswer } from '../../http/early-answer.ts';
import { type Exchange, type GatewayResponse, json, type RouteHandler, type Summary } from '../../http/exchange.ts';
import { refuseIgnored } from '../fields.ts';
import { pumpLive } from '../live-answer.ts';
import { callerOf, noKeys, readPaidHeaders } from '../paid-request.ts';
import { balanceHeaders, costHeaders, dryRunAnswer, ignoredHeaders, recordReceipt } from '../paid-response.ts';
import { toSpeechParams } from './speech-request.ts';
import { toTranscriptionRequest } from './transcription-request.ts';

export interface SpokenDependencies {
  readonly speech: SpeakDependencies;
  /** Called once, after the last byte is written and the money is settled. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** Media types for providers that do not send one. */
const mediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/**
 * Streams audio as the provider generates it. The gateway reads the provider to the end and never waits for this client
 * (BILL-8). Raw audio has no place for an error, so a failed response is cut off and never ends like a complete one.
 */
export const spokenAnswer = (
  { speech: { ledger }, finished }: SpokenDependencies,
  exchange: Exchange,
  { stream, format, mediaType = mediaTypes[format] }: Speech,
): GatewayResponse => {
  const { event } = exchange;
  const body = pumpLive({ clock: ledger.clock, finished }, exchange, (drop) => {
    const bytes = new BinaryStream(drop);
    const write = (piece: Uint8Array): void => bytes.write(piece);
    const end = (): void => close(event, bytes);
    return {
      body: bytes.body,
      pump: (log) =>
        stream.pump({
          write,
          finish: write,
          fail: (error) => {
            log.fail(error);
            markAsCut(event);
          },
          close: log.close,
        }),
      end,
      abort: end,
    };
  });
  return { statusCode: 200, headers: { 'content-type': mediaType, 'cache-control': 'no-store' }, body };
};

const close = (event: object, bytes: BinaryStream): void => {
  if (isCut(event) && !canBreak(event)) {
    bytes.abandon();
    return;
  }
  bytes.end();
  endCut(event);
};

export interface AudioRouteDependencies extends SpokenDependencies {
  readonly transcription: TranscribeDependencies;
}

export const createAudioRoutes = (deps: AudioRouteDependencies): Record<'transcribe' | 'speak', RouteHandler> => ({
  /** POST /v1/audio/transcriptions: a form (AUD-1, IDEM-5). */
  transcribe: async (exchange) => {
    const { form, event, summary, startedAtMs } = exchange;
    if (!form) throw new Error('a transcription request without a form');
    const { dryRun } = readPaidHeaders(event.headers, noKeys, false);
    const { order, format } = toTranscriptionRequest(form);
    const params = { ...order, dryRun, validateFor: noteModel(exchange, order.validateFor) };
    const answerBy = planAnswer(exchange, { kind: format === 'text' && !dryRun ? 'bytes' : 'json' });
    const transcribed = await transcribe(deps.transcription, callerOf(exchange, answerBy), params);
    if (transcribed.kind === 'dry_run') return dryRunAnswer(exchange, transcribed);
    const { transcript, receipt } = transcribed;
    recordReceipt(summary, receipt);
    summary.firstByteMs = deps.transcription.ledger.clock.now() - startedAtMs;
    const headers = { ...costHeaders(receipt.costPicos), ...balanceHeaders(receipt.balancePicos) };
    if (format === 'text') return plainText(transcript.text, headers);
    const { text, reported } = transcript;
    return json(200, { text, ...(reported && { usage: reported }) }, headers);
  },
  /** POST /v1/audio/speech (AUD-3). No header shows the cost, because it is unknown when the first bytes are sent. */
  speak: async (exchange) => {
    const { body, event, summary, startedAtMs } = exchange;
    if (!body) throw new Error('a speech request without a body');
    const { dryRun, requireParameters } = readPaidHeaders(event.headers, noKeys, true);
    const order = toSpeechParams(body.json);
    const validateFor = noteModel(exchange, (model: SpeechModel) => {
      if (requireParameters) refuseIgnored(order.ignored, model.id);
      return order.validateFor(model);
    });
    const params = { ...order, dryRun, validateFor };
    const answerBy = planAnswer(exchange, { kind: dryRun ? 'json' : 'pieces' });
    const spoken = await speak(deps.speech, callerOf(exchange, answerBy), params);
    if (spoken.kind === 'dry_run') return dryRunAnswer(exchange, spoken);
    summary.firstByteMs = deps.speech.ledger.clock.now() - startedAtMs;
    const spokenResponse = spokenAnswer(deps, exchange, spoken);
    return { ...spokenResponse, headers: { ...spokenResponse.headers, ...ignoredHeaders(order.ignored) } };
  },
});

/** Logs only model ids of the catalog, never the client's text. */
const noteModel =
  <Model extends { readonly id: string }, Ask>({ summary }: Exchange, validateFor: (model: Model) => Ask) =>
  (model: Model): Ask => {
    summary.model = model.id;
    return validateFor(model);
  };

const plainText = (body: string, headers: Record<string, string>): GatewayResponse => ({
  statusCode: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body,
});
