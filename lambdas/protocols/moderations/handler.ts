import * as z from 'zod';
import type { ModerationModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { type ModerationDependencies, type ModerationParams, moderate } from '../../core/inputs/moderate.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { type FieldPolicy, fields, guardedNames, keepFields } from '../fields.ts';
import { inlineImageCharacters } from '../image-url.ts';
import { createInputRoute } from '../input-route.ts';
import { listOf, parseWith } from '../parse.ts';

const INPUTS_MAX = 2_048;

const listed: FieldPolicy = { unknown: 'list' };
const part = z.discriminatedUnion('type', [
  fields({ type: z.literal('text'), text: z.string() }, listed),
  fields({ type: z.literal('image_url'), image_url: fields({ url: z.string().min(1) }, listed) }, listed),
]);
const bounds = { min: 1, max: INPUTS_MAX, message: 'must be a string or an array with at least one input' };

/** Source: https://platform.openai.com/docs/api-reference/moderations/create */
export const moderationsBody = fields(
  {
    model: z.string('must be the id of a model').min(1, 'must be the id of a model').nullish(),
    input: z.union([z.string(), listOf(z.union([z.string(), part]), bounds)], bounds.message),
  },
  { unknown: 'list', guarded: guardedNames },
);

type Input = z.output<typeof moderationsBody>['input'];
type Part = z.output<typeof part>;

/** Validates a moderation body (MOD-1). Throws the 400 that names the field. */
export const toModerationParams = (json: JsonObject, defaultModelId: string): ModerationParams => {
  const { body, ignored } = keepFields(moderationsBody, json);
  const { model: modelId, input } = parseWith(moderationsBody, body);
  return {
    modelId: modelId ?? defaultModelId,
    endUser: undefined,
    validateFor: (model) => ({
      body,
      bytes: measure(input, model),
      tokens: 0,
      inputs: countOf(input),
      answerBytes: countOf(input) * RESULT_BYTES,
      ignored: ignored.names,
    }),
  };
};

/** Bytes of one result with its categories, indented. */
const RESULT_BYTES = 4_096;

const countOf = (input: Input): number => (typeof input === 'string' ? 1 : input.length);

const measure = (input: Input, model: ModerationModel): number => {
  if (typeof input === 'string') return Buffer.byteLength(input);
  return input.reduce(
    (sum, member, at) =>
      sum + (typeof member === 'string' ? Buffer.byteLength(member) : partBytes(member, `input[${at}]`, model)),
    0,
  );
};

const partBytes = (member: Part, place: string, { id, inputTypes }: ModerationModel): number => {
  if (member.type === 'text') return Buffer.byteLength(member.text);
  const param = `${place}.image_url.url`;
  if (!inputTypes.includes('image'))
    throw invalidRequest(param, `${param}: "${id}" does not accept images. Send only text, or use another model.`);
  inlineImageCharacters(member.image_url.url, param);
  return 0;
};

/** POST /v1/moderations. */
export const createModerations = (deps: ModerationDependencies): RouteHandler =>
  createInputRoute({
    toParams: ({ json }) => toModerationParams(json, defaultModelId(deps)),
    answer: (caller, order) => moderate(deps, caller, order),
  });

/** Id of the first moderation model in the catalog. Empty if there is none. */
const defaultModelId = ({ catalog, ledger }: ModerationDependencies): string =>
  catalog.list(ledger.clock.now()).find(({ kind }) => kind === 'moderation')?.id ?? '';
