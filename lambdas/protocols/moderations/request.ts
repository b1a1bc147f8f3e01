import * as z from 'zod';
import type { ModerationModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ModerationOrder } from '../../core/moderations/moderate.ts';
import { listOf } from '../bounded.ts';
import { inlineImageCharacters } from '../image-url.ts';
import { parseWith } from '../parse.ts';

const INPUTS_MAX = 2_048;

const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string().min(1) }) }),
]);
const bounds = { min: 1, max: INPUTS_MAX, message: 'must be a string or an array with at least one input' };

/** https://platform.openai.com/docs/api-reference/moderations/create. Any other field is refused by name (GEN-9). */
export const moderationsBody = z.strictObject({
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  input: z.union([z.string(), listOf(z.union([z.string(), part]), bounds)], bounds.message),
});

type Input = z.output<typeof moderationsBody>['input'];
type Part = z.output<typeof part>;

/** MOD-1. */
export const toModerationOrder = (json: JsonObject): ModerationOrder => {
  const { model: modelId, input } = parseWith(moderationsBody, json);
  return {
    modelId,
    endUser: undefined,
    prepare: (model) => ({
      body: json,
      bytes: measure(input, model),
      tokens: 0,
      inputs: typeof input === 'string' ? 1 : input.length,
    }),
  };
};

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
  if (!inputTypes.includes('image')) throw invalidRequest(param, `${param}: "${id}" does not take images.`);
  inlineImageCharacters(member.image_url.url, param);
  return 0;
};
