import { isUtf8 } from 'node:buffer';
import {
  getMultipartBoundary,
  MaxHeaderSizeExceededError,
  MaxPartsExceededError,
  MultipartParseError,
  MultipartPart,
  parseMultipart,
} from '@remix-run/multipart-parser';
import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { Form, FormFile } from './exchange.ts';

const PARTS_MAX = 64;
/** Limit on the header of one part. */
const HEADER_BYTES_MAX = 8 * 1024;
/** Limit on a text field: a prompt of 32,000 characters in any encoding. */
const FIELD_BYTES_MAX = 256 * 1024;
/** https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1. Searching for a longer boundary could take seconds. */
const BOUNDARY_CHARACTERS_MAX = 70;

export const isForm = (contentType: string | undefined): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType ?? '');

/**
 * Parses a complete multipart/form-data body (https://www.rfc-editor.org/rfc/rfc7578). File contents are views of
 * `bytes`, not copies. Throws a 400 that names the problem without quoting the body.
 */
export const parseFormBody = (bytes: Uint8Array, contentType: string): Form => {
  const boundary = boundaryOf(contentType);
  if (bytes.length === 0) throw malformed('The body is empty. Send a multipart form.');
  const fields: { readonly name: string; readonly value: string }[] = [];
  const files: FormFile[] = [];
  for (const part of readParts(fromFirstBoundary(bytes, boundary), boundary)) {
    const { name, fileName, mediaType } = readHead(part);
    const content = contentOf(part);
    if (fileName === undefined) fields.push({ name, value: toText(content) });
    else files.push({ field: name, fileName, mediaType, bytes: content });
  }
  return { fields, files };
};

const malformed = (problem: string): GatewayError => new GatewayError('invalid_request_error', problem);

const boundaryOf = (contentType: string): string => {
  const boundary = getMultipartBoundary(contentType)?.trim() ?? '';
  if (boundary !== '' && boundary.length <= BOUNDARY_CHARACTERS_MAX) return boundary;
  const problem = `has no boundary of 1 to ${BOUNDARY_CHARACTERS_MAX} characters`;
  throw invalidRequest('content-type', `content-type: ${problem}. Let your HTTP client write this header.`);
};

/**
 * Returns the body without the text that may precede its first boundary, which a parser must ignore
 * (https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1). The library accepts none.
 */
const fromFirstBoundary = (bytes: Uint8Array, boundary: string): Uint8Array => {
  const body = viewOf(bytes);
  const line = Buffer.from(`--${boundary}`);
  if (body.subarray(0, line.length).equals(line)) return bytes;
  const at = body.indexOf(`\r\n--${boundary}\r\n`);
  return at < 0 ? bytes : bytes.subarray(at + 2);
};

const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const readParts = (bytes: Uint8Array, boundary: string): readonly MultipartPart[] => {
  const body = viewOf(bytes);
  // If a part has no header, the parser would read the header of the next part as the header of this one.
  if (body.includes(`--${boundary}\r\n\r\n`)) throw nameless();
  const parts: MultipartPart[] = [];
  const limits = { maxHeaderSize: HEADER_BYTES_MAX, maxFileSize: BODY_BYTES_MAX, maxParts: PARTS_MAX };
  let headAt = `--${boundary}\r\n`.length;
  try {
    for (const part of parseMultipart(bytes, { boundary, ...limits })) {
      const contentAt = body.indexOf('\r\n\r\n', headAt) + 4;
      const head = body.subarray(headAt, contentAt - 4);
      // The library reads only UTF-8, but a file name can have any bytes.
      parts.push(isUtf8(head) ? part : new MultipartPart(Buffer.from(head.toString()), part.content));
      headAt = contentAt + part.size + `\r\n--${boundary}\r\n`.length;
    }
    return parts;
  } catch (error) {
    throw error instanceof MultipartParseError ? toRefusal(error) : error;
  }
};

const toRefusal = (error: MultipartParseError): GatewayError => {
  if (error instanceof MaxPartsExceededError) return malformed(`The form has more than ${PARTS_MAX} parts.`);
  if (error instanceof MaxHeaderSizeExceededError) {
    return malformed(`The header of a part of the form is longer than ${HEADER_BYTES_MAX} bytes.`);
  }
  return malformed(
    'The body is not a complete multipart form: it must start and end with the boundary of its content-type.',
  );
};

const nameless = (): GatewayError => malformed('A part of the form has no name. Name each one in content-disposition.');

interface Head {
  readonly name: string;
  /** Undefined if the part is text. */
  readonly fileName: string | undefined;
  readonly mediaType: string;
}

const readHead = (part: MultipartPart): Head => {
  const { headers } = part;
  const { name } = part;
  if (!name) throw nameless();
  if (name.includes(REPLACED)) throw malformed('The name of a part of the form is not valid UTF-8.');
  const encoding = headers['content-transfer-encoding']?.toLowerCase();
  if (encoding !== undefined && !plainEncodings.has(encoding)) {
    throw malformed('A part of the form has a content-transfer-encoding. Send its bytes as they are.');
  }
  return {
    name,
    fileName: fileNameIn(headers['content-disposition'] ?? ''),
    mediaType: part.mediaType ?? '',
  };
};

/** Encodings that change nothing: https://www.rfc-editor.org/rfc/rfc2045#section-6.2 */
const plainEncodings: ReadonlySet<string> = new Set(['binary', '8bit', '7bit']);

/** Character that replaces invalid UTF-8. */
const REPLACED = '\ufffd';

/** A quoted name ends at a quote before the next parameter or the end, because some clients do not escape quotes. */
const fileNameForm = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.|"(?!\s*(?:;|$)))*)"|([^;]*))/i;
const encodedFileNameForm = /;\s*filename\*\s*=/i;

/**
 * Returns an empty string for a file without a plain name. The encoded form, which RFC 7578 forbids and some clients
 * add, is not decoded: the parser would log an unknown charset.
 */
const fileNameIn = (disposition: string): string | undefined => {
  const [found, quoted, bare] = fileNameForm.exec(disposition) ?? [];
  if (found !== undefined) return quoted?.replace(/\\(["\\])/g, '$1') ?? bare?.trim() ?? '';
  return encodedFileNameForm.test(disposition) ? '' : undefined;
};

/** The content is one piece because the body was passed as one. */
const contentOf = ({ content }: MultipartPart): Uint8Array => content[0] ?? new Uint8Array();

const toText = (bytes: Uint8Array): string => {
  if (bytes.length > FIELD_BYTES_MAX) throw malformed(`A field of the form is longer than ${FIELD_BYTES_MAX} bytes.`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('A field of the form is not valid UTF-8. Give it a filename if it is a file.');
  }
};
