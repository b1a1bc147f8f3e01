import * as z from 'zod';
import type { EmbeddingModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { type EmbeddingDependencies, type EmbeddingParams, embed } from '../../core/inputs/embed.ts';
import type { InputRequest } from '../../core/inputs/paid-input.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { fields, guardedNames, keepFields } from '../fields.ts';
import { createInputRoute } from '../input-route.ts';
import { endUserName } from '../optional-fields.ts';
import { parseWith, showAs } from '../parse.ts';

/**
 * Inputs per request. The provider limits them and rejects empty texts:
 * https://platform.openai.com/docs/api-reference/embeddings/create
 */
const INPUTS_MAX = 2_048;
const DIMENSIONS_MAX = 100_000;
const BYTES_PER_FLOAT = 22;
/** Base64 of 4 bytes. */
const BYTES_PER_ENCODED_FLOAT = 16 / 3;
/** Bytes of one embedding without its numbers. */
const EMBEDDING_BYTES = 128;
/** The gateway reads responses of at most 64 MiB. */
const FLOATS_MAX = 2_500_000;

const isToken = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Does not use zod, which takes a microsecond per check: a body can contain millions of tokens. */
const isListOf = <Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] =>
  Array.isArray(value) && value.length > 0 && value.every(isItem);

const isText = (value: unknown): value is string => typeof value === 'string';
const isTokens = (value: unknown): value is readonly number[] => isListOf(value, isToken);

type Input = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

const isInput = (value: unknown): value is Input =>
  isText(value) || isListOf(value, isText) || isTokens(value) || isListOf(value, isTokens);

const shownText = { type: 'string', minLength: 1 };
const shownTokens = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };
const shownInput = {
  anyOf: [
    shownText,
    { type: 'array', items: shownText, minItems: 1, maxItems: INPUTS_MAX },
    shownTokens,
    { type: 'array', items: shownTokens, minItems: 1, maxItems: INPUTS_MAX },
  ],
};

export const embeddingsBody = fields(
  {
    model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
    input: showAs(
      z.custom<Input>(
        isInput,
        'must be a string, an array of strings or tokens, or an array of arrays of tokens, none empty',
      ),
      { kind: 'schema', schema: shownInput },
    ),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1, 'must be at least 1').max(DIMENSIONS_MAX, `must be at most ${DIMENSIONS_MAX}`).nullish(),
    user: endUserName.nullish(),
  },
  { unknown: 'list', guarded: guardedNames },
);

type EmbeddingsBody = z.output<typeof embeddingsBody>;

/** Validates an embeddings body (EMB-1). Throws the 400 that names the field. */
export const toEmbeddingParams = (json: JsonObject): EmbeddingParams => {
  const { body: kept, ignored } = keepFields(embeddingsBody, json);
  const body = parseWith(embeddingsBody, kept);
  const inputs = inputsOf(body.input);
  if (inputs.length > INPUTS_MAX) {
    throw invalidRequest('input', `input: must have at most ${INPUTS_MAX} inputs. Split the request.`);
  }
  refuseEmptyText(inputs, Array.isArray(body.input));
  return {
    modelId: body.model,
    endUser: body.user ?? undefined,
    validateFor: (model) => {
      refuseDimensions(body.dimensions ?? undefined, model);
      refuseTooManyFloats(body, inputs.length, model);
      const answerBytes = answerBytesOf(body, inputs.length, model);
      return { body: kept, ignored: ignored.names, answerBytes, ...measure(inputs, model) };
    },
  };
};

type Inputs = readonly (string | readonly number[])[];

const inputsOf = (input: Input): Inputs => {
  if (typeof input === 'string') return [input];
  const lists: Inputs = input.filter((member) => typeof member !== 'number');
  return lists.length > 0 ? lists : [input.filter(isToken)];
};

const refuseEmptyText = (inputs: Inputs, isList: boolean): void => {
  const at = inputs.indexOf('');
  if (at < 0) return;
  const param = isList ? `input[${at}]` : 'input';
  throw invalidRequest(param, `${param}: must not be empty. Send a text${isList ? ', or leave this input out' : ''}.`);
};

const refuseDimensions = (dimensions: number | undefined, { id, embedding }: EmbeddingModel): void => {
  if (dimensions === undefined || embedding.dimensionsSettable) return;
  throw invalidRequest('dimensions', `dimensions: "${id}" returns ${embedding.dimensionsDefault}. Remove the field.`);
};

const refuseTooManyFloats = (
  { encoding_format: format, dimensions }: EmbeddingsBody,
  inputs: number,
  { embedding }: EmbeddingModel,
): void => {
  if (format === 'base64' || inputs * (dimensions ?? embedding.dimensionsDefault) <= FLOATS_MAX) return;
  const advice = 'Use encoding_format "base64", fewer dimensions or fewer inputs.';
  throw invalidRequest('input', `input: ${inputs} inputs return more numbers than one response can hold. ${advice}`);
};

const answerBytesOf = (
  { encoding_format: format, dimensions }: EmbeddingsBody,
  inputs: number,
  { embedding }: EmbeddingModel,
): number => {
  const bytesPerFloat = format === 'base64' ? BYTES_PER_ENCODED_FLOAT : BYTES_PER_FLOAT;
  return Math.ceil(inputs * ((dimensions ?? embedding.dimensionsDefault) * bytesPerFloat + EMBEDDING_BYTES));
};

const measure = (
  inputs: Inputs,
  { id, limits }: EmbeddingModel,
): Omit<InputRequest, 'body' | 'ignored' | 'answerBytes'> => {
  let bytes = 0;
  let tokens = 0;
  for (const [at, input] of inputs.entries()) {
    if (typeof input === 'string') {
      bytes += Buffer.byteLength(input);
      continue;
    }
    tokens += input.length;
    if (input.length <= limits.contextTokens) continue;
    const message = `input[${at}]: ${input.length} tokens, but the limit of "${id}" is ${limits.contextTokens}. Shorten it.`;
    throw new GatewayError('context_length_exceeded', message, { param: `input[${at}]` });
  }
  return { bytes, tokens, inputs: inputs.length };
};

/** POST /v1/embeddings. */
export const createEmbeddings = (deps: EmbeddingDependencies): RouteHandler =>
  createInputRoute({
    toParams: ({ json }) => toEmbeddingParams(json),
    answer: (caller, order) => embed(deps, caller, order),
  });
