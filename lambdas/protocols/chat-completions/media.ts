import type { TextModel } from '../../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { ImageDetail, PromptSize } from '../../core/text/conversation.ts';
import type { Alternatives } from '../alternatives.ts';
import { inlineImageCharacters, inlineTypeOf, isInline, platformHostOf } from '../image-url.ts';
import type { ChatMessage } from './messages.ts';

/** CHAT-7. */
const VIDEO_CHARACTERS_MAX = 20_000_000;

/** An image or a video, as an image part names it. */
export interface ChatMedia {
  readonly url: string;
  readonly detail: ImageDetail;
  readonly param: string;
}

/** Every image and video of a conversation with where it stands. */
export const mediaOf = (messages: readonly ChatMessage[]): ChatMedia[] => {
  const found: ChatMedia[] = [];
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [part, value] of content.entries()) {
      if (value.type !== 'image_url') continue;
      const { url, detail = 'auto' } = value.image_url;
      found.push({ url, detail, param: `messages[${index}].content[${part}].image_url.url` });
    }
  }
  return found;
};

/** A data URI of a video, or a link to a platform whose videos the model's vendor opens by itself. */
export const isVideo = (url: string, { videoLinkHosts }: TextModel): boolean =>
  inlineTypeOf(url)?.startsWith('video/') ?? videoLinkHosts.includes(platformHostOf(url) ?? '');

export interface MediaSize extends Pick<PromptSize, 'images' | 'recordings'> {
  /** What stands in the body itself and is no text, in its order. */
  readonly inline: readonly string[];
}

/** CHAT-6, CHAT-7: checks every image and video against the model, and measures them for the estimate. */
export const measureMedia = (media: readonly ChatMedia[], model: TextModel, alternatives: Alternatives): MediaSize => {
  const videos = media.filter(({ url }) => isVideo(url, model));
  const images = media.filter(({ url }) => !isVideo(url, model));
  for (const video of videos) checkVideo(video, model, alternatives);
  for (const image of images) checkImage(image, model, alternatives);
  return {
    images: images.map(({ detail }) => detail),
    recordings: videos.length,
    inline: media.map(({ url }) => url).filter(isInline),
  };
};

const checkVideo = ({ url, param }: ChatMedia, model: TextModel, alternatives: Alternatives): void => {
  if (!model.inputTypes.includes('video')) throw refuseVideo(param, model, alternatives);
  if (!isInline(url) || url.length <= VIDEO_CHARACTERS_MAX) return;
  throw invalidRequest(param, `${param}: a video may have at most ${VIDEO_CHARACTERS_MAX} characters as a data URI.`);
};

const refuseVideo = (param: string, { id }: TextModel, alternatives: Alternatives): GatewayError => {
  const others = alternatives(({ inputTypes }) => inputTypes.includes('video'));
  return invalidRequest(param, `${param}: "${id}" does not take videos.${others}`);
};

const checkImage = ({ url, param }: ChatMedia, model: TextModel, alternatives: Alternatives): void => {
  refuseVideoLink(url, param, model, alternatives);
  if (!model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(param, `${param}: "${model.id}" does not take images.${others}`);
  }
  inlineImageCharacters(url, param);
};

const refuseVideoLink = (url: string, param: string, model: TextModel, alternatives: Alternatives): void => {
  const link = isInline(url) ? null : URL.parse(url);
  if (!link) return;
  if (link.pathname.toLowerCase().endsWith('.mp4')) {
    const advice = 'Send the video as a base64 data URI or as a link to a video platform.';
    throw invalidRequest(param, `${param}: a link to a video file is not supported. ${advice}`);
  }
  const opened = alternatives(({ videoLinkHosts }) => videoLinkHosts.includes(link.hostname));
  if (opened !== '') throw refuseVideo(param, model, alternatives);
};
