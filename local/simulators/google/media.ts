import { readImageInput } from '../image-input.ts';
import { pdfPages } from '../pdf-pages.ts';
import type { VendorRefusal } from '../wire.ts';
import { invalidArgument } from './error.ts';
import type { Content, Part } from './request.ts';

/** Source: https://ai.google.dev/gemini-api/docs/image-understanding (without GIF) */
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']);

export const pdfType = 'application/pdf';

/** Limit per file: https://ai.google.dev/gemini-api/docs/document-processing */
const pagesMax = 1_000;

/** Image types whose bytes are checked here. */
const knownTypes = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** Source: https://ai.google.dev/gemini-api/docs/function-calling#multimodal */
const resultTypes = new Set(['image/png', 'image/jpeg', 'image/webp', pdfType, 'text/plain']);

/** Returns the media in the result of a function. */
export function resultParts({ functionResponse }: Part): readonly Pick<Part, 'inlineData' | 'fileData'>[] {
  return functionResponse?.parts ?? [];
}

/**
 * Models before Gemini 3 reject media in results: https://github.com/maximhq/bifrost/pull/4202 (2026-06).
 * Sources of the messages: https://github.com/google-gemini/gemini-cli/issues/3054,
 * https://github.com/maximhq/bifrost/pull/1989, https://github.com/google-gemini/gemini-cli/issues/13808
 */
export function refuseMedia(contents: readonly Content[], nests: boolean): VendorRefusal | undefined {
  const parts = contents.flatMap(({ parts: own = [] }) => own);
  const nested = parts.flatMap(resultParts);
  if (nested.length > 0 && !nests) return invalidArgument();
  const wrong = nested.find((part) => !resultTypes.has(mediaTypeOf(part) ?? ''));
  if (wrong !== undefined) return invalidArgument(`Unsupported MIME type: ${mediaTypeOf(wrong) ?? ''}`);
  for (const { inlineData, fileData } of [...parts, ...nested]) {
    const refusal = inlineData && refuseBytes(inlineData);
    if (refusal !== undefined) return refusal;
    if (fileData !== undefined && !isReachable(fileData.fileUri ?? '')) {
      return invalidArgument('Cannot fetch content from the provided URL.');
    }
  }
  return undefined;
}

function refuseBytes({ mimeType: type = '', data = '' }: NonNullable<Part['inlineData']>): VendorRefusal | undefined {
  if (!isSupported(type)) return invalidArgument(`Unsupported MIME type: ${type}`);
  if (type === pdfType) return refusePages(pdfPages(data) ?? 0);
  if (!knownTypes.has(type)) return undefined;
  const { kind } = readImageInput(`data:${type};base64,${data}`);
  return kind === 'image' ? undefined : invalidArgument('Unable to process input image.');
}

function refusePages(pages: number): VendorRefusal | undefined {
  if (pages === 0) return invalidArgument('The document has no pages.');
  if (pages <= pagesMax) return undefined;
  return invalidArgument(`The document contains ${pages} pages which exceeds the supported page limit of ${pagesMax}.`);
}

function isSupported(type: string): boolean {
  return imageTypes.has(type) || type === pdfType || /^(audio|video|text)\/./.test(type);
}

/** Nothing is fetched. Hosts under `.invalid` are unreachable. */
function isReachable(uri: string): boolean {
  const parsed = URL.parse(uri);
  return parsed !== null && /^(https?|gs):$/.test(parsed.protocol) && !parsed.hostname.endsWith('.invalid');
}

/** Returns the media types of a content's images. */
export function imagesOf({ parts = [] }: Content): readonly string[] {
  return parts.flatMap((part) => mediaTypeOf(part) ?? []).filter((type) => type.startsWith('image/'));
}

export function mediaTypeOf({ inlineData, fileData }: Pick<Part, 'inlineData' | 'fileData'>): string | undefined {
  return inlineData === undefined && fileData === undefined ? undefined : ((inlineData ?? fileData)?.mimeType ?? '');
}
