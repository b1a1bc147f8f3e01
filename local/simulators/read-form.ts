import type { IncomingHttpHeaders } from 'node:http';
import { MultipartParseError, parseMultipart } from '@remix-run/multipart-parser';

export type SentFile = { readonly fileName: string; readonly mediaType: string; readonly bytes: Uint8Array };

const bytesMax = 256 * 1024 * 1024;

/** Returns the parts of a form by name; the last one of repeated names. Undefined for an invalid form. */
export function readForm(
  headers: IncomingHttpHeaders,
  bytes: Uint8Array,
): Readonly<Record<string, string | SentFile>> | undefined {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(headers['content-type'] ?? '') ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) return undefined;
  const fields: Record<string, string | SentFile> = {};
  try {
    for (const part of parseMultipart(bytes, { boundary, maxFileSize: bytesMax, maxTotalSize: bytesMax })) {
      const { name = '', filename, mediaType = '' } = part;
      fields[name] = filename === undefined ? part.text : { fileName: filename, mediaType, bytes: part.bytes };
    }
    return fields;
  } catch (error) {
    if (error instanceof MultipartParseError) return undefined;
    throw error;
  }
}
