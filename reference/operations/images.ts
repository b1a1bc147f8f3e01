import { editBody, generationBody } from '../../lambdas/protocols/images/request.ts';
import { file, images } from '../answers/media.ts';
import { ofKeyedRequests } from '../error-codes.ts';
import type { JsonSchema } from '../json-schema.ts';
import type { Body, Operation } from '../operation.ts';
import { idempotencyKey } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

const sharedFields: Record<keyof typeof editBody.shape, string> = {
  model: 'The id of an image model.',
  prompt: 'What is to be seen, in words. How long it may be is in `limits` of the model.',
  size: '`<width>x<height>`, or a step such as `2K`: `limits.size` of the model tells what it takes, and what it does not take is `invalid_size`.',
  quality: '`low`, `medium`, `high` or `auto`, on models that list it.',
  response_format: 'A link that works for 24 hours, or the image itself. `url` if left out.',
  user: 'Your own name for your end user. It stands in the receipt.',
  n: 'How many images; 1 if left out. Above 1 it is 422 for models that draw one at a time.',
};

const extras = {
  background: 'Such as `transparent`, on models that list it.',
  moderation: 'How strict the vendor’s filter is, on models that list it.',
  output_format: '`png`, `jpeg` or `webp`, on models that list it.',
};
const extraSchemas: Record<keyof typeof extras, JsonSchema> = {
  background: { type: ['string', 'null'] },
  moderation: { type: ['string', 'null'] },
  output_format: { type: ['string', 'null'], enum: ['png', 'jpeg', 'webp', null] },
};

const further = 'Further fields are those that the model’s entry lists; any other is refused by name.';

const referenceNames = ['input_image', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `input_image_${number}`)];

const generationFields: Record<keyof typeof generationBody.shape, string> = {
  ...sharedFields,
  width: 'In pixels, with `height`, in place of `size`: multiples of 16, on models that take it.',
  height: 'In pixels, with `width`.',
  aspect_ratio: 'Such as `16:9`, on models that take it.',
  sequential_image_generation: 'Only `disabled`, on models that take it.',
};

const generationRequest: Body = {
  name: 'ImageRequest',
  schema: generationBody,
  description: further,
  fields: {
    ...generationFields,
    image: 'Public URLs of images to draw from, on models that take them so.',
    ...Object.fromEntries(
      referenceNames.map((name) => [
        name,
        'The http(s) URL or base64 data URI of an image to draw from, on models that take it.',
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
      summary: 'Any size, with a quality',
      value: { model: 'gpt-image-2', prompt: 'A paper boat on a lake', size: '1024x1024', quality: 'low' },
    },
    edges: {
      summary: 'Edges in pixels',
      value: { model: 'flux-2-pro', prompt: 'A paper boat on a lake', width: 1_024, height: 768 },
    },
    inline: {
      summary: 'The image inside the answer',
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
    image:
      'The images to draw from, in order: the prompt may call them image 1, image 2 and so on. `image[]` is the same.',
    mask: 'A PNG of the first image’s dimensions whose transparent parts are painted, on the one model that takes it.',
    ...extras,
  },
  more: { image: { type: 'array', items: file, minItems: 1 }, mask: file, ...extraSchemas },
  alsoRequired: ['image'],
  examples: {
    plain: {
      summary: 'A picture with a change',
      value: { model: 'gpt-image-2', prompt: 'The same boat in the evening', size: '1024x1024', image: ['boat.png'] },
    },
    several: {
      summary: 'Two pictures in one',
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

const codes = ['invalid_size', 'invalid_image_format', 'content_filter', 'unprocessable_entity'] as const;

export const imageOperations: Record<'generateImages' | 'editImages', Operation> = {
  generateImages: {
    tag: 'Images',
    summary: 'Draw images',
    description:
      'Charged by what is delivered: of several images of which one failed, the others. It takes from seconds to minutes. `size` beside `width` or `height` is refused.',
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
    summary: 'Draw images from others',
    description:
      'For models that take their references as files; those that take them in JSON are at `/v1/images/generations`.',
    form: editRequest,
    answers: {
      '200': { description: 'The images.', headers: receipt, content: { 'application/json': { schema: images } } },
    },
    codes: [...codes, 'idempotency_not_supported'],
  },
};
