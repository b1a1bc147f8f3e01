import * as z from 'zod';
import { endUserName } from '../end-user.ts';
import { promptText } from '../prompt.ts';

/** A field of text, said to be `what` when it is none. */
export const text = (what: string) => z.string(`must be ${what}`);

const countProblem = 'must be a whole number of at least 1';

/** How many images, as JSON has it. */
export const countInJson = z.int(countProblem).min(1, countProblem);

/** And as a form has it, where everything is text. */
export const countInText = z
  .string(countProblem)
  .regex(/^[1-9]\d{0,8}$/, countProblem)
  .transform(Number);

export const edge = z.int('must be a whole number of pixels').min(1, 'must be a whole number of pixels, at least 1');

/** What both endpoints take: https://platform.openai.com/docs/api-reference/images/create. How much of it is for the entry to say. */
export const sharedFields = {
  model: text('the id of a model').min(1, 'must be the id of a model'),
  prompt: promptText('must be a string that describes the image'),
  size: text('a string such as "1024x1024"').nullish(),
  quality: text('a string such as "low"').nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  user: endUserName.nullish(),
};

export interface SharedFields {
  readonly prompt: string;
  readonly n?: number | null | undefined;
  readonly size?: string | null | undefined;
  readonly quality?: string | null | undefined;
  readonly user?: string | null | undefined;
}
