import type { MediaPorts } from '../../core/images/media.ts';
import type { Parts } from './parts.ts';

/** Throws where this function has not been told what links begin with. */
export const toMediaPorts = ({ media, newMediaToken, settings, publicUrl }: Parts): MediaPorts => {
  const url = settings.MEDIA_URL ?? publicUrl;
  if (url === undefined)
    throw new Error('MEDIA_URL: neither it nor the public address is known, and links to images are to be made');
  return { media, newMediaToken, mediaUrl: url.replace(/\/+$/, '') };
};
