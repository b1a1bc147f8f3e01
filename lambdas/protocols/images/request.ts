import * as z from 'zod';
import type { ImageOrder } from '../../core/images/draw-images.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Form } from '../../http/exchange.ts';
import { toTextFields } from '../form-fields.ts';
import { parseWith } from '../parse.ts';
import { toAsk } from './request-ask.ts';
import { editFiles, toEditFiles } from './request-edit-files.ts';
import { refuseStreaming, toExtras } from './request-extras.ts';
import { isReferenceName, toReferences } from './request-references.ts';
import { countInJson, countInText, edge, sharedFields, text } from './request-schema.ts';

/** What is neither here nor a reference is for the model's entry to know (GEN-9). */
export const generationBody = z.object({
  ...sharedFields,
  n: countInJson.nullish(),
  width: edge.nullish(),
  height: edge.nullish(),
  aspect_ratio: text('a string such as "16:9"').nullish(),
  sequential_image_generation: text('the string "disabled"').nullish(),
});

export const editBody = z.object({ ...sharedFields, n: countInText.nullish() });

/** POST /v1/images/generations. Throws the 400 that names the field. */
export const toGenerationOrder = (json: JsonObject): Omit<ImageOrder, 'dryRun'> => {
  const sent = parseWith(generationBody, json);
  refuseStreaming(json);
  const isKnown = (name: string): boolean => Object.hasOwn(generationBody.shape, name) || isReferenceName(name);
  return {
    protocol: 'images_generations',
    modelId: sent.model,
    format: sent.response_format ?? 'url',
    endUser: sent.user ?? undefined,
    prepare: (model) =>
      toAsk(model, {
        sent,
        edges: { width: sent.width ?? undefined, height: sent.height ?? undefined },
        aspectRatio: sent.aspect_ratio ?? undefined,
        sequential: sent.sequential_image_generation ?? undefined,
        extras: toExtras(json, model, isKnown),
        references: toReferences(json, model),
        mask: undefined,
      }),
  };
};

/** POST /v1/images/edits (IMG-5). Throws the 400 that names the field. */
export const toEditOrder = (form: Form): Omit<ImageOrder, 'dryRun'> => {
  const isKnown = (name: string): boolean => Object.hasOwn(editBody.shape, name);
  const fields = toTextFields(form, { files: editFiles, content: 'image', isText: isKnown });
  const sent = parseWith(editBody, fields);
  refuseStreaming(fields);
  return {
    protocol: 'images_edits',
    modelId: sent.model,
    format: sent.response_format ?? 'url',
    endUser: sent.user ?? undefined,
    prepare: (model) =>
      toAsk(model, {
        sent,
        edges: { width: undefined, height: undefined },
        aspectRatio: undefined,
        sequential: undefined,
        extras: toExtras(fields, model, isKnown),
        ...toEditFiles(form, model),
      }),
  };
};
