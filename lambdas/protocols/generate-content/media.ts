import { isUtf8 } from 'node:buffer';
import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import type { PromptSize } from '../../core/text/conversation.ts';
import type { Alternatives } from '../alternatives.ts';
import { platformHostOf } from '../image-url.ts';
import type { Content, Part } from './body.ts';

/** Base64 characters that hold at least the first 12 bytes. */
const SNIFFED_CHARACTERS = 24;

type Media = Pick<Part, 'inlineData' | 'fileData'>;

interface PlacedMedia extends Media {
  /** Place of the part in the client's body. */
  readonly param: string;
}

export interface MediaSize extends Pick<PromptSize, 'images' | 'recordings' | 'documents'> {
  /** Base64 content in the order of the body. */
  readonly inline: readonly string[];
  /** Decoded plain-text documents. */
  readonly texts: readonly string[];
}

/**
 * CHAT-6, GEN-11: checks all media against the model, and measures them for the estimate. `at` is the place of the
 * contents.
 */
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
    recordings: counted.filter((kind) => kind === 'video' || kind === 'audio').length,
    documents: counted.filter((kind) => kind === 'document').length,
    inline: media.flatMap(({ inlineData }) => inlineData?.data ?? []),
    texts: media.flatMap(({ inlineData, param }) =>
      inlineData && kindOf(inlineData.mimeType) === 'text' ? [decodeText(inlineData, `${param}.inlineData`)] : [],
    ),
  };
};

/** Parts of contents and of function results. */
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

type Kind = 'image' | 'video' | 'audio' | 'document' | 'text';

const kindOf = (mimeType: string): Kind | undefined => {
  const type = mimeType.toLowerCase();
  if (type === 'application/pdf') return 'document';
  return (['image', 'video', 'audio', 'text'] as const).find((kind) => type.startsWith(`${kind}/`));
};

/**
 * The provider also reads each page of a PDF document as an image:
 * https://ai.google.dev/gemini-api/docs/document-processing
 */
const inputs = {
  image: { type: 'image', name: 'images' },
  video: { type: 'video', name: 'videos' },
  audio: { type: 'audio', name: 'audio' },
  document: { type: 'image', name: 'PDF documents' },
  text: { type: 'text', name: 'text' },
} as const;

const requireInput = (kind: Kind, param: string, model: TextModel, alternatives: Alternatives): void => {
  const { type, name } = inputs[kind];
  if (model.inputTypes.includes(type)) return;
  const others = alternatives(({ inputTypes }) => inputTypes.includes(type));
  throw invalidRequest(param, `${param}: "${model.id}" does not accept ${name}.${others}`);
};

/** Runs in linear time: no character can match in two ways. */
const base64 = /^[\w+/\s-]*(?:=\s*){0,2}$/;

/** Whether the type has no character set, or one that `decodeText` can read. */
const isOfUtf8 = (type: string): boolean =>
  !type.includes('charset') || /^[^;]*;\s*charset="?(?:utf-8|us-ascii)"?\s*$/.test(type);

/** The provider reads UTF-8. With another encoding the estimate would count other characters. */
const decodeText = ({ mimeType, data }: NonNullable<Media['inlineData']>, param: string): string => {
  if (!isOfUtf8(mimeType.toLowerCase())) {
    throw invalidRequest(`${param}.mimeType`, `${param}.mimeType: must have a charset of utf-8, or none.`);
  }
  const bytes = Buffer.from(data, 'base64');
  if (base64.test(data) && isUtf8(bytes)) return bytes.toString();
  throw invalidRequest(`${param}.data`, `${param}.data: must be UTF-8 text in base64.`);
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
    throw invalidRequest(
      typeParam,
      `${typeParam}: must be application/pdf or the type of an image, audio, video or text.`,
    );
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

/** Accepts only links to video platforms. A file at the provider would belong to the gateway's own account. */
const checkLink = (
  { fileUri, mimeType }: NonNullable<Media['fileData']>,
  param: string,
  model: TextModel,
  alternatives: Alternatives,
): Kind => {
  const host = hostOf(fileUri) ?? '';
  if (!model.videoLinkHosts.includes(host)) {
    const uriParam = `${param}.fileUri`;
    const allowed =
      model.videoLinkHosts.length > 0 ? ` Allowed hosts of links: ${model.videoLinkHosts.join(', ')}.` : '';
    const others = alternatives(({ videoLinkHosts }) => videoLinkHosts.includes(host));
    throw invalidRequest(
      uriParam,
      `${uriParam}: "${model.id}" does not open this link. Send inlineData.${allowed}${others}`,
    );
  }
  requireInput('video', param, model, alternatives);
  if (mimeType !== undefined && kindOf(mimeType) !== 'video') {
    const typeParam = `${param}.mimeType`;
    throw invalidRequest(typeParam, `${typeParam}: must be the type of a video.`);
  }
  return 'video';
};
