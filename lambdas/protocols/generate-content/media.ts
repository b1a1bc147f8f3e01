import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/images/image-type.ts';
import type { PromptSize } from '../../core/text/text-request.ts';
import type { Alternatives } from '../alternatives.ts';
import { platformHostOf } from '../image-url.ts';
import type { Content, Part } from './parts.ts';

/** Enough of base64 for the first 12 bytes. */
const SNIFFED_CHARACTERS = 24;

type Media = Pick<Part, 'inlineData' | 'fileData'>;

interface PlacedMedia extends Media {
  /** Of the part, in the client's body. */
  readonly param: string;
}

export interface MediaSize extends Pick<PromptSize, 'images' | 'recordings'> {
  /** What stands in the body itself and is no text, in its order. */
  readonly inline: readonly string[];
}

/** CHAT-6, GEN-11: checks every medium against the model, and measures them for the estimate. `at` is where the contents stand. */
export const measureMedia = (
  contents: readonly Content[],
  model: TextModel,
  alternatives: Alternatives,
  at: string,
): MediaSize => {
  const media = mediaOf(contents, at);
  const counted = media.flatMap((item) => [
    ...(item.inlineData ? [checkInline(item.inlineData, `${item.param}.inlineData`, model, alternatives)] : []),
    ...(item.fileData ? [checkLink(item.fileData, `${item.param}.fileData`, model, alternatives)] : []),
  ]);
  return {
    images: counted.filter((kind) => kind === 'image').map(() => 'auto'),
    recordings: counted.filter((kind) => kind !== 'image').length,
    inline: media.flatMap(({ inlineData }) => inlineData?.data ?? []),
  };
};

/** Parts of contents and of the results of functions. */
const mediaOf = (contents: readonly Content[], at: string): PlacedMedia[] => {
  const found: PlacedMedia[] = [];
  for (const [index, { parts = [] }] of contents.entries()) {
    for (const [partIndex, part] of parts.entries()) {
      const param = `${at}[${index}].parts[${partIndex}]`;
      if (part.inlineData ?? part.fileData) found.push({ ...part, param });
      for (const [resultIndex, result] of (part.functionResponse?.parts ?? []).entries()) {
        found.push({ ...result, param: `${param}.functionResponse.parts[${resultIndex}]` });
      }
    }
  }
  return found;
};

const kinds = ['image', 'video', 'audio'] as const;
type Kind = (typeof kinds)[number];

const kindOf = (mimeType: string): Kind | undefined =>
  kinds.find((kind) => mimeType.toLowerCase().startsWith(`${kind}/`));

const plurals: Readonly<Record<Kind, string>> = { image: 'images', video: 'videos', audio: 'audio' };

const requireInput = (kind: Kind, param: string, model: TextModel, alternatives: Alternatives): void => {
  if (model.inputTypes.includes(kind)) return;
  const others = alternatives(({ inputTypes }) => inputTypes.includes(kind));
  throw invalidRequest(param, `${param}: "${model.id}" does not take ${plurals[kind]}.${others}`);
};

const checkInline = (
  { mimeType, data }: NonNullable<Media['inlineData']>,
  param: string,
  model: TextModel,
  alternatives: Alternatives,
): Kind => {
  const kind = kindOf(mimeType);
  if (!kind) {
    const typeParam = `${param}.mimeType`;
    throw invalidRequest(typeParam, `${typeParam}: must be the type of an image, an audio or a video.`);
  }
  requireInput(kind, param, model, alternatives);
  if (kind !== 'image') return kind;
  if (!sniffImage(Buffer.from(data.slice(0, SNIFFED_CHARACTERS), 'base64'))) {
    const dataParam = `${param}.data`;
    const message = `${dataParam}: must be a PNG, JPEG or WebP image.`;
    throw new GatewayError('invalid_image_format', message, { param: dataParam });
  }
  return kind;
};

const hostOf = (uri: string): string | undefined => (/^https?:\/\//i.test(uri) ? platformHostOf(uri) : undefined);

/** Only links to video platforms: a file of the vendor's would be one of our account's. */
const checkLink = (
  { fileUri, mimeType }: NonNullable<Media['fileData']>,
  param: string,
  model: TextModel,
  alternatives: Alternatives,
): Kind => {
  const host = hostOf(fileUri) ?? '';
  if (!model.videoLinkHosts.includes(host)) {
    const uriParam = `${param}.fileUri`;
    const allowed = model.videoLinkHosts.length > 0 ? ` Links may be to ${model.videoLinkHosts.join(', ')}.` : '';
    const others = alternatives(({ videoLinkHosts }) => videoLinkHosts.includes(host));
    throw invalidRequest(
      uriParam,
      `${uriParam}: "${model.id}" does not open this. Send inlineData.${allowed}${others}`,
    );
  }
  requireInput('video', param, model, alternatives);
  if (mimeType !== undefined && kindOf(mimeType) !== 'video') {
    const typeParam = `${param}.mimeType`;
    throw invalidRequest(typeParam, `${typeParam}: must be the type of a video.`);
  }
  return 'video';
};
