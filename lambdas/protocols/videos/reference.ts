import type { VideoModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Dimensions } from '../../core/images/image-wire.ts';
import type { ReferenceImage } from '../../core/videos/video-wire.ts';
import { checkImageFile } from '../image-file.ts';

const PARAM = 'input_reference';

/** VID-2: the first frame, of exactly the size that is asked for. Throws the 400 of what is wrong with it. */
export const toReference = (bytes: Uint8Array, { id, video }: VideoModel, size: Dimensions): ReferenceImage => {
  if (!video.inputReference) {
    throw invalidRequest(PARAM, `${PARAM}: "${id}" starts from the prompt alone. Leave the file out.`);
  }
  const { mediaType, width, height } = checkImageFile(bytes, PARAM);
  if (width !== size.width || height !== size.height) {
    const asked = `${size.width}x${size.height}`;
    const message = `${PARAM}: the image is ${width}x${height}, but size is ${asked}. Send an image of ${asked}.`;
    throw new GatewayError('invalid_size', message, { param: PARAM });
  }
  return { mediaType, bytes };
};
