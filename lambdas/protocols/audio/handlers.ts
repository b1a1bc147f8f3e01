import { speak } from '../../core/audio/speak.ts';
import { type TranscribePorts, transcribe } from '../../core/audio/transcribe.ts';
import { planAnswer } from '../../http/early-answer.ts';
import { type Exchange, type GatewayResponse, json, type RouteHandler } from '../../http/exchange.ts';
import { callerOf, noKeys, readPaidHeaders } from '../paid-request.ts';
import { balanceHeaders, costHeaders, dryRunAnswer, tell } from '../paid-response.ts';
import { toSpeechOrder } from './speech-request.ts';
import { type SpokenPorts, spokenAnswer } from './spoken-answer.ts';
import { toTranscriptionRequest } from './transcription-request.ts';

export interface AudioRoutePorts extends SpokenPorts {
  readonly transcription: TranscribePorts;
}

export const createAudioRoutes = (ports: AudioRoutePorts): Record<'transcribe' | 'speak', RouteHandler> => ({
  /** POST /v1/audio/transcriptions: a form (AUD-1, IDEM-5). */
  transcribe: async (exchange) => {
    const { form, event, summary, startedAtMs } = exchange;
    if (!form) throw new Error('a transcription without a form');
    const { dryRun } = readPaidHeaders(event.headers, noKeys, false);
    const { order, format } = toTranscriptionRequest(form);
    const told = { ...order, dryRun, prepare: noteModel(exchange, order.prepare) };
    const answerBy = planAnswer(exchange, { kind: format === 'text' && !dryRun ? 'bytes' : 'json' });
    const transcribed = await transcribe(ports.transcription, callerOf(exchange, answerBy), told);
    if (transcribed.kind === 'dry_run') return dryRunAnswer(exchange, transcribed);
    const { transcript, receipt } = transcribed;
    tell(summary, receipt);
    summary.firstByteMs = ports.transcription.ledger.clock.now() - startedAtMs;
    const headers = { ...costHeaders(receipt.costPicos), ...balanceHeaders(receipt.balancePicos) };
    if (format === 'text') return plainText(transcript.text, headers);
    const { text, reported } = transcript;
    return json(200, { text, ...(reported && { usage: reported }) }, headers);
  },
  /** POST /v1/audio/speech (AUD-3). What it costs is not told in a header: it is not yet true when the first bytes go out. */
  speak: async (exchange) => {
    const { body, event, summary, startedAtMs } = exchange;
    if (!body) throw new Error('a request for speech without a body');
    const { dryRun } = readPaidHeaders(event.headers, noKeys, true);
    const order = toSpeechOrder(body.json);
    const told = { ...order, dryRun, prepare: noteModel(exchange, order.prepare) };
    const answerBy = planAnswer(exchange, { kind: dryRun ? 'json' : 'bytes' });
    const spoken = await speak(ports.speech, callerOf(exchange, answerBy), told);
    if (spoken.kind === 'dry_run') return dryRunAnswer(exchange, spoken);
    summary.firstByteMs = ports.speech.ledger.clock.now() - startedAtMs;
    return spokenAnswer(ports, exchange, spoken);
  },
});

/** The log names models of the catalog only, never what a client wrote in that place. */
const noteModel =
  <Model extends { readonly id: string }, Ask>({ summary }: Exchange, prepare: (model: Model) => Ask) =>
  (model: Model): Ask => {
    summary.model = model.id;
    return prepare(model);
  };

const plainText = (body: string, headers: Record<string, string>): GatewayResponse => ({
  statusCode: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body,
});
