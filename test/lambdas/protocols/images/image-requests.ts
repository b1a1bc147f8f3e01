import type { ImageAsk } from '../../../../lambdas/core/images/image-wire.ts';
import { isJsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import { parseFormBody } from '../../../../lambdas/http/form-body.ts';
import { toEditParams, toGenerationParams } from '../../../../lambdas/protocols/images/request.ts';
import { imageModel } from '../../core/images/image-models.ts';
import { formOf } from '../../http/forms.ts';
import { fileOf, png } from '../videos/images.ts';

export const PROMPT = 'a cat';

/** Returns the params of a body after its serialization as JSON, so without undefined members. */
export const generationOrder = (body: object) => {
  const json = parseJson(JSON.stringify({ prompt: PROMPT, ...body }));
  if (!isJsonObject(json)) throw new Error('no object');
  return toGenerationParams(json);
};

export const generation = (model: string, body: object = {}): ImageAsk =>
  generationOrder({ model, ...body }).validateFor(imageModel(model));

export type FormEntry = readonly [name: string, value: string | File];

export const editOrder = async (...entries: readonly FormEntry[]) => {
  const { bytes, contentType } = await formOf(...entries);
  return toEditParams(parseFormBody(bytes, contentType));
};

/** Edit request that starts with one image of 64x64. */
export const edit = async (model: string, ...entries: readonly FormEntry[]): Promise<ImageAsk> => {
  const order = await editOrder(['model', model], ['prompt', PROMPT], ['image', fileOf(png(64, 64))], ...entries);
  return order.validateFor(imageModel(model));
};
