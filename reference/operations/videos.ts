import { videoBody } from '../../lambdas/protocols/videos/request.ts';
import { orEmpty, videoIdForm } from '../answers/forms.ts';
import { deletedVideo, file, video, videoList } from '../answers/media.ts';
import { ofKeyedRequests } from '../error-codes.ts';
import type { Body, Operation } from '../operation.ts';
import { idempotencyKey, ifRange, limit, query, range } from '../parameters.ts';

const fields: Record<keyof typeof videoBody.shape, string> = {
  model: 'Id of a video model.',
  prompt: 'Description of the video.',
  seconds: 'Duration as a string: one of `limits.seconds` of the model, such as `"4"`, which is the default.',
  size: '`<width>x<height>`: one of `limits.sizes` of the model. Default: `1280x720`. Other sizes are `invalid_size`.',
  webhook_url:
    'Public http(s) URL that receives the result of the video. The header `webhook-signature` is that of Standard Webhooks, with the secret of `GET /api/webhooks/secret`. The gateway tries it five times; do not rely on it alone.',
  input_reference: 'Allowed only as a file of a form.',
};

const { input_reference: _notInForms, ...formFields } = fields;

const videoRequest: Body = {
  name: 'VideoRequest',
  schema: videoBody,
  fields,
  examples: {
    plain: {
      summary: 'Four seconds',
      value: { model: 'seedance-2-0-fast', prompt: 'A paper boat on a lake', seconds: '4', size: '1280x720' },
    },
  },
};

const videoForm: Body = {
  name: 'VideoForm',
  schema: videoBody,
  fields: {
    ...formFields,
    input_reference:
      'The first frame: PNG, JPEG or WebP with exactly the dimensions of `size`. Otherwise `invalid_size`.',
  },
  more: { input_reference: file },
  examples: {
    reference: {
      summary: 'An animated image',
      value: {
        model: 'seedance-2-0-fast',
        prompt: 'The boat sails away',
        seconds: '4',
        size: '1280x720',
        input_reference: 'boat-1280x720.png',
      },
    },
  },
};

const path = { id: ['Id of one of your videos.', 'video_01KAJ2Z8D5M8R3V0C7Q4T9XW1B', videoIdForm] } as const;

type Name = 'createVideo' | 'listVideos' | 'getVideo' | 'deleteVideo' | 'getVideoContent';

export const videoOperations: Record<Name, Operation> = {
  createVideo: {
    tag: 'Videos',
    summary: 'Create a video',
    description:
      'Returns as soon as the provider has accepted the video. The charge follows on completion, per clip, per second or per token. A failed video costs nothing.',
    parameters: [idempotencyKey],
    json: videoRequest,
    form: videoForm,
    answers: {
      '200': {
        description: 'The video, queued.',
        headers: ['Idempotent-Replayed'],
        content: { 'application/json': { schema: video } },
      },
    },
    codes: [...ofKeyedRequests, 'idempotency_not_supported', 'invalid_size', 'invalid_image_format', 'content_filter'],
  },
  listVideos: {
    tag: 'Videos',
    summary: 'List videos',
    description: 'Your videos, newest first.',
    parameters: [
      limit(100, 20),
      query('after', '`last_id` of the previous page.', orEmpty(videoIdForm)),
      query('order', 'Order by creation time.', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }),
    ],
    answers: { '200': { description: 'A page of videos.', content: { 'application/json': { schema: videoList } } } },
    codes: ['invalid_request_error'],
  },
  getVideo: {
    tag: 'Videos',
    summary: 'Get a video',
    description:
      'The status changes from `queued` to `in_progress`, then to `completed` or `failed`, and never back. Free of charge.',
    path,
    answers: { '200': { description: 'The video.', content: { 'application/json': { schema: video } } } },
    codes: ['not_found'],
  },
  deleteVideo: {
    tag: 'Videos',
    summary: 'Delete a video',
    description: 'Deletes a video that has ended, and its file.',
    path,
    answers: {
      '200': { description: 'The video was deleted.', content: { 'application/json': { schema: deletedVideo } } },
    },
    codes: ['not_found', 'video_in_progress'],
  },
  getVideoContent: {
    tag: 'Videos',
    summary: 'Fetch the file of a video',
    description: 'Returns the MP4 file, or one range of it, for 24 hours after completion. Free of charge.',
    path,
    parameters: [
      range,
      ifRange,
      query('variant', 'Must be `video`: no other file is stored.', { type: 'string', enum: ['video'] }),
    ],
    answers: {
      '200': { description: 'The complete file.', headers: ['ETag'], content: { 'video/mp4': { schema: file } } },
      '206': {
        description: 'The range.',
        headers: ['ETag', 'Content-Range'],
        content: { 'video/mp4': { schema: file } },
      },
    },
    codes: ['invalid_request_error', 'not_found', 'expired', 'video_not_ready', 'range_not_satisfiable'],
  },
};
