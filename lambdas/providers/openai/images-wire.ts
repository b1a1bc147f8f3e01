import type { ImageWire } from '../../core/images/image-wire.ts';
import { readJson } from '../read-json.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { toDrawing } from './images-answer.ts';
import { toImageError } from './images-errors.ts';
import { refuseUnfit, toImagePayload } from './images-request.ts';

/** Ten of the largest PNGs as base64. A string of V8 holds 512 MiB. */
const DRAWING_BYTES_MAX = 192 * 1024 * 1024;

/**
 * https://developers.openai.com/api/reference/resources/images as typed in the package openai 7.55.0. A GPT image model always answers
 * in base64 and refuses `response_format`, so that none is ever sent.
 */
export const createOpenaiImageWire = (options: WireOptions): ImageWire => ({
  check: refuseUnfit,
  draw: async (call) => {
    const { provider, signal } = call;
    const { response, told } = await callVendor(options, {
      provider,
      ...toImagePayload(call),
      streamed: false,
      signal,
      refuse: (status, body, context) => toImageError(status, body, context, call),
    });
    return toDrawing(await readJson(response, DRAWING_BYTES_MAX), told, call);
  },
});
