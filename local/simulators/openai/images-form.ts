import { MultipartParseError, parseMultipart } from '@remix-run/multipart-parser';
import type { SentFile } from '../read-form.ts';
import type { WireRequest } from '../wire.ts';

export type ImageForm = {
  readonly fields: Readonly<Record<string, string>>;
  /** Files in the order of the form. The name `image[]`, which several files can share, is stored without brackets. */
  readonly files: readonly (SentFile & { readonly name: string; readonly inArray: boolean })[];
};

const bytesMax = 1024 * 1024 * 1024;

/** Parses a form. Undefined if the request is not a valid form. Tests also read sent forms with it. */
export function readImageForm({ headers, bytes }: Pick<WireRequest, 'headers' | 'bytes'>): ImageForm | undefined {
  const type = headers['content-type'] ?? '';
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined || !/^multipart\/form-data\b/i.test(type)) return undefined;
  const fields: Record<string, string> = {};
  const files: ImageForm['files'][number][] = [];
  try {
    for (const part of parseMultipart(bytes, { boundary, maxFileSize: bytesMax, maxTotalSize: bytesMax })) {
      const { name = '', filename, mediaType = '' } = part;
      const inArray = name.endsWith('[]');
      if (filename === undefined) fields[name] = part.text;
      else {
        files.push({
          name: inArray ? name.slice(0, -2) : name,
          inArray,
          fileName: filename,
          mediaType,
          bytes: part.bytes,
        });
      }
    }
    return { fields, files };
  } catch (error) {
    if (error instanceof MultipartParseError) return undefined;
    throw error;
  }
}
