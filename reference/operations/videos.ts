import { videoBody } from '../../lambdas/protocols/videos/request.ts';
import { orEmpty, videoIdForm } from '../answers/forms.ts';
import { deletedVideo, file, video, videoList } from '../answers/media.ts';
import { ofKeyedRequests } from '../error-codes.ts';
import type { Body, Operation } from '../operation.ts';
import { idempotencyKey, ifRange, limit, query, range } from '../parameters.ts';

const fields: Record<keyof typeof videoBody.shape, string> = {
  model: 'The id of a video model.',
  prompt: 'What happens, in words.',
  seconds: 'How long, as text: `limits.seconds` of the model, such as `"4"`, which it is if left out.',
  size: '`<width>x<height>`, one of `limits.sizes` of the model; `1280x720` if left out. Any other is `invalid_size`.',
  webhook_url:
    'A public http(s) address that is told how the video ended, signed like a payment, under the hex HMAC-SHA256 of `webhook` under your key. It is tried five times; do not depend on it.',
  input_reference: 'Only as a file of a form.',
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
    input_reference: 'The first frame: PNG, JPEG or WebP, of exactly the dimensions of `size`, else `invalid_size`.',
  },
  more: { input_reference: file },
  examples: {
    reference: {
      summary: 'A picture that begins to move',
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

const path = { id: ['The id of a video of yours.', 'video_01KAJ2Z8D5M8R3V0C7Q4T9XW1B', videoIdForm] } as const;

type Name = 'createVideo' | 'listVideos' | 'getVideo' | 'deleteVideo' | 'getVideoContent';

export const videoOperations: Record<Name, Operation> = {
  createVideo: {
    tag: 'Videos',
    summary: 'Begin a video',
    description:
      'The answer is there as soon as the vendor has accepted the video. It is charged when it is completed, by the clip, the second or the token; one that fails costs nothing.',
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
    summary: 'List your videos',
    description: 'Your own, the newest first.',
    parameters: [
      limit(100, 20),
      query('after', 'The `last_id` of the page before.', orEmpty(videoIdForm)),
      query('order', 'By the time of creation.', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }),
    ],
    answers: { '200': { description: 'A page of them.', content: { 'application/json': { schema: videoList } } } },
    codes: ['invalid_request_error'],
  },
  getVideo: {
    tag: 'Videos',
    summary: 'Look at a video',
    description: 'Its status goes from queued over in_progress to completed or failed, and never back. Free of charge.',
    path,
    answers: { '200': { description: 'The video.', content: { 'application/json': { schema: video } } } },
    codes: ['not_found'],
  },
  deleteVideo: {
    tag: 'Videos',
    summary: 'Delete a video',
    description: 'Removes a video that has ended, and its file.',
    path,
    answers: { '200': { description: 'It is gone.', content: { 'application/json': { schema: deletedVideo } } } },
    codes: ['not_found', 'video_in_progress'],
  },
  getVideoContent: {
    tag: 'Videos',
    summary: 'Fetch the file of a video',
    description: 'The MP4, for 24 hours after completion, or one range of it. Free of charge.',
    path,
    parameters: [
      range,
      ifRange,
      query('variant', 'Only the video itself is kept.', { type: 'string', enum: ['video'] }),
    ],
    answers: {
      '200': { description: 'The whole file.', headers: ['ETag'], content: { 'video/mp4': { schema: file } } },
      '206': {
        description: 'The range.',
        headers: ['ETag', 'Content-Range'],
        content: { 'video/mp4': { schema: file } },
      },
    },
    codes: ['invalid_request_error', 'not_found', 'expired', 'video_not_ready', 'range_not_satisfiable'],
  },
};
