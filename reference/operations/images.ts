import { editBody, editJson, generationBody } from '../../lambdas/protocols/images/request.ts';
import { file, images } from '../answers/media.ts';
import { ofKeyedRequests } from '../error-codes.ts';
import type { JsonSchema } from '../json-schema.ts';
import type { Body, Operation } from '../operation.ts';
import { idempotencyKey } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

const sharedFields: Record<keyof typeof editBody.shape, string> = {
  model: 'Id of an image model.',
  prompt: 'Description of the image. `limits` of the model has its maximum length.',
  size: '`<width>x<height>`, or a name such as `2K`. `limits.size` of the model lists the allowed sizes. Other sizes are `invalid_size`.',
  quality: '`low`, `medium`, `high` or `auto`, on models that list it.',
  response_format:
    'A link that works for 24 hours, or the image in base64. Default: `limits.response_format_default` of the model.',
  user: 'Your name for the end user. The receipt includes it.',
  n: 'Number of images. Default: 1. A value above 1 is 422 for models that create one image per request.',
};

const extras = {
  background: 'Background, such as `transparent`, on models that list it.',
  moderation: "Strictness of the provider's safety filter, on models that list it.",
  output_format: '`png`, `jpeg` or `webp`, on models that list it.',
};
const extraSchemas: Record<keyof typeof extras, JsonSchema> = {
  background: { type: ['string', 'null'] },
  moderation: { type: ['string', 'null'] },
  output_format: { type: ['string', 'null'], enum: ['png', 'jpeg', 'webp', null] },
};

const further =
  'Some models accept additional fields. A field that the model does not accept gets 400, and `param` names it.';

const referenceNames = ['input_image', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `input_image_${number}`)];

const generationFields: Record<keyof typeof generationBody.shape, string> = {
  ...sharedFields,
  width: 'Width in pixels, a multiple of 16. Send it with `height` instead of `size`, on models that support it.',
  height: 'Height in pixels. Send it with `width`.',
  aspect_ratio: 'Aspect ratio such as `16:9`, on models that support it.',
  sequential_image_generation: 'Must be `disabled`, on models that support it.',
};

const generationRequest: Body = {
  name: 'ImageRequest',
  schema: generationBody,
  description: further,
  fields: {
    ...generationFields,
    image: 'Public URLs of reference images, on models that support them.',
    ...Object.fromEntries(
      referenceNames.map((name) => [
        name,
        'http(s) URL or base64 data URI of a reference image, on models that support it.',
      ]),
    ),
    ...extras,
  },
  more: {
    image: { type: ['array', 'null'], items: { type: 'string', format: 'uri' } },
    ...Object.fromEntries(referenceNames.map((name) => [name, { type: ['string', 'null'] }])),
    ...extraSchemas,
  },
  examples: {
    free: {
      summary: 'A free size with a quality',
      value: {
        model: 'gpt-image-2',
        prompt: 'A paper boat on a lake',
        size: '1024x1024',
        quality: 'low',
        response_format: 'url',
      },
    },
    edges: {
      summary: 'Width and height in pixels',
      value: { model: 'flux-2-pro', prompt: 'A paper boat on a lake', width: 1_024, height: 768 },
    },
    inline: {
      summary: 'The image in the response',
      value: {
        model: 'seedream-4-5',
        prompt: 'A paper boat on a lake',
        size: '2048x2048',
        response_format: 'b64_json',
      },
    },
  },
};

const editRequest: Body = {
  name: 'ImageEditForm',
  schema: editBody,
  description: further,
  fields: {
    ...sharedFields,
    image: 'Reference images in order. The prompt can call them image 1, image 2 and so on. `image[]` is an alias.',
    mask: 'PNG with the dimensions of the first image. The model paints its transparent parts. One model supports it.',
    ...extras,
  },
  more: { image: { type: 'array', items: file, minItems: 1 }, mask: file, ...extraSchemas },
  alsoRequired: ['image'],
  examples: {
    plain: {
      summary: 'An edited image',
      value: {
        model: 'gpt-image-2',
        prompt: 'The same boat in the evening',
        size: '1024x1024',
        response_format: 'url',
        image: ['boat.png'],
      },
    },
    several: {
      summary: 'Two images combined',
      value: {
        model: 'gpt-image-2',
        prompt: 'The boat of image 1 on the lake of image 2',
        size: '1024x1024',
        quality: 'low',
        n: '1',
        user: 'user-1',
        background: 'auto',
        moderation: 'auto',
        image: ['boat.png', 'lake.png'],
      },
    },
  },
};

const imageReference: JsonSchema = {
  type: 'object',
  properties: { image_url: { type: 'string' } },
  required: ['image_url'],
};

const inlineBoat =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const editJsonRequest: Body = {
  name: 'ImageEditRequest',
  schema: editJson,
  description: further,
  fields: {
    ...sharedFields,
    images:
      'Reference images in order. `image_url` is an http(s) URL, which the gateway fetches, or a base64 data URI.',
    image: 'One URL or data URI, or a list of them, instead of `images`.',
    mask: 'PNG with the dimensions of the first image. The model paints its transparent parts. One model supports it.',
    ...extras,
  },
  more: {
    images: { type: ['array', 'null'], items: { anyOf: [imageReference, { type: 'string' }] } },
    image: { type: ['string', 'array', 'null'], items: { type: 'string' } },
    mask: { anyOf: [imageReference, { type: ['string', 'null'] }] },
    ...extraSchemas,
  },
  examples: {
    inline: {
      summary: 'An edited image in JSON',
      value: {
        model: 'gpt-image-2',
        prompt: 'The same boat in the evening',
        size: '1024x1024',
        images: [{ image_url: inlineBoat }],
      },
    },
  },
};

const codes = ['invalid_size', 'invalid_image_format', 'content_filter', 'unprocessable_entity'] as const;

export const imageOperations: Record<'generateImages' | 'editImages', Operation> = {
  generateImages: {
    tag: 'Images',
    summary: 'Create images',
    description:
      'Charged by the images that are delivered. If one of several images fails, the others are charged. A request takes seconds to minutes. `size` together with `width` or `height` is rejected.',
    parameters: [idempotencyKey],
    json: generationRequest,
    answers: {
      '200': {
        description: 'The images.',
        headers: [...receipt, 'Idempotent-Replayed'],
        content: { 'application/json': { schema: images } },
      },
    },
    codes: [...codes, ...ofKeyedRequests],
  },
  editImages: {
    tag: 'Images',
    summary: 'Create images from reference images',
    description:
      'For models that edit images, which are sent as files or in JSON. The other models take reference images at `/v1/images/generations`.',
    parameters: [idempotencyKey],
    json: editJsonRequest,
    form: editRequest,
    sampled: 'form',
    answers: {
      '200': {
        description: 'The images.',
        headers: [...receipt, 'Idempotent-Replayed'],
        content: { 'application/json': { schema: images } },
      },
    },
    codes: [...codes, ...ofKeyedRequests, 'idempotency_not_supported'],
  },
};
