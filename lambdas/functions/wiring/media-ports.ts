import type { MediaPorts } from '../../core/images/media-link.ts';
import type { Parts } from './parts.ts';

/** Throws where this function has not been told what links begin with. */
export const toMediaPorts = ({ media, newMediaToken, settings }: Parts): MediaPorts => {
  const { MEDIA_URL: url } = settings;
  if (url === undefined) throw new Error('MEDIA_URL: is not set, and links to images are to be made');
  return { media, newMediaToken, mediaUrl: url.replace(/\/+$/, '') };
};
