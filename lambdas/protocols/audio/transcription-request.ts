import { type AudioFile, sniffAudio } from '../../core/audio/audio-wire.ts';
import type { TranscriptionParams } from '../../core/audio/transcribe.ts';
import type { TranscriptionModel } from '../../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Form, FormFile } from '../../http/exchange.ts';
import { isFalse, toTextFields, withoutEmpty } from '../form-fields.ts';
import { shownName } from '../parse.ts';

/** Returns the only file of a form. Throws the 400 that names the problem. */
export const onlyFile = ({ files }: Form, name: string): FormFile => {
  const [file, second] = files;
  if (second) throw refuse(name, 'sent more than once. Send one file.');
  if (file) return file;
  throw refuse(name, 'missing. Send the audio file.');
};

export const refuse = (param: string, problem: string): GatewayError => invalidRequest(param, `${param}: ${problem}`);

export type TranscriptFormat = 'json' | 'text';

export interface TranscriptionRequest {
  readonly order: Omit<TranscriptionParams, 'dryRun'>;
  readonly format: TranscriptFormat;
}

export const fieldNames: ReadonlySet<string> = new Set([
  'model',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'stream',
]);

const PROMPT_CHARACTERS_MAX = 4_000;
const LANGUAGE_CHARACTERS_MAX = 35;
/**
 * ISO-639-1 code, or a longer language tag that starts with a language code: `en`, `pt-BR`, `zh-Hant-TW`
 * (https://www.rfc-editor.org/rfc/rfc5646).
 */
const language = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/;
const decimal = /^(?:0|1)(?:\.\d{1,10})?$|^\.\d{1,10}$/;

/**
 * AUD-1: the form of
 * https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create, without
 * timestamps, subtitles and speakers, which the models do not support. Throws the 400 that names the field.
 */
export const toTranscriptionRequest = (sent: Form): TranscriptionRequest => {
  const form = withoutEmpty(sent);
  refuseOtherForms(form);
  const isText = (name: string): boolean => fieldNames.has(name);
  const fields = new Map(Object.entries(toTextFields(form, { files: ['file'], content: 'recording', isText })));
  const unknown = [...fields.keys()].find((name) => !isText(name));
  if (unknown !== undefined) throw refuse(shownName(unknown), 'this field is not supported here. Remove it.');
  const modelId = fields.get('model');
  if (!modelId) throw refuse('model', 'must be the id of a model.');
  const file = onlyFile(form, 'file');
  if (file.bytes.length === 0) throw refuse('file', 'has 0 bytes. Send the audio file.');
  refuseStream(fields.get('stream'));
  const asked = {
    language: readLanguage(fields.get('language')),
    prompt: readPrompt(fields.get('prompt')),
    temperature: readTemperature(fields.get('temperature')),
  };
  return {
    format: readFormat(fields.get('response_format')),
    order: { modelId, endUser: undefined, validateFor: (model) => ({ ...asked, file: toAudioFile(file, model) }) },
  };
};

/** The provider has this field and clients often send it, so it gets its own message instead of "unknown field". */
const refuseOtherForms = ({ fields }: Form): void => {
  const asked = fields.find(({ name }) => name.replace(/\[\]$/, '') === 'timestamp_granularities');
  if (asked) throw refuse(asked.name, 'timestamps are not supported. Remove the field.');
};

const refuseStream = (sent: string | undefined): void => {
  if (sent === undefined || isFalse(sent)) return;
  throw refuse('stream', 'must be false. Transcripts are not streamed.');
};

const readFormat = (sent = 'json'): TranscriptFormat => {
  if (sent === 'json' || sent === 'text') return sent;
  throw refuse(
    'response_format',
    `${JSON.stringify(sent.slice(0, 40))} is not supported. Must be one of "json", "text".`,
  );
};

const readLanguage = (sent: string | undefined): string | undefined => {
  if (sent === undefined || (sent.length <= LANGUAGE_CHARACTERS_MAX && language.test(sent))) return sent;
  throw refuse('language', 'must be an ISO 639-1 code, such as en.');
};

const readPrompt = (sent: string | undefined): string | undefined => {
  if (sent !== undefined && [...sent.slice(0, 2 * PROMPT_CHARACTERS_MAX + 1)].length > PROMPT_CHARACTERS_MAX) {
    throw refuse('prompt', `must have at most ${PROMPT_CHARACTERS_MAX} characters.`);
  }
  return sent;
};

const readTemperature = (sent: string | undefined): string | undefined => {
  if (sent === undefined || (decimal.test(sent) && Number(sent) <= 1)) return sent;
  throw refuse('temperature', 'must be a number from 0 to 1.');
};

/**
 * The provider reads the format from the file name's extension. If that is unknown, the gateway appends the format that
 * it detects from the bytes.
 */
const toAudioFile = ({ fileName, mediaType, bytes }: FormFile, { transcription }: TranscriptionModel): AudioFile => {
  const { formats } = transcription;
  const ending = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
  if (formats.includes(ending)) return { name: fileName, mediaType, bytes };
  const found = sniffAudio(bytes);
  if (found && formats.includes(found)) return { name: `${fileName || 'audio'}.${found}`, mediaType, bytes };
  throw refuse(
    'file',
    `the format cannot be recognized by the file name or the first bytes. Must be one of ${formats.join(', ')}.`,
  );
};
