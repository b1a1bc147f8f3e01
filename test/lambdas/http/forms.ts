import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { Form } from '../../../lambdas/http/exchange.ts';
import { parseFormBody } from '../../../lambdas/http/form-body.ts';

export interface SentForm {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** Returns a form as `FormData` of Node serializes it. */
export const formOf = async (...entries: readonly (readonly [string, string | File])[]): Promise<SentForm> => {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  const response = new Response(form);
  return { bytes: Buffer.from(await response.arrayBuffer()), contentType: response.headers.get('content-type') ?? '' };
};

export const BOUNDARY = 'the-boundary';

/** One part. `head` has its header lines. */
export const partOf = (head: string, content: string | Uint8Array = ''): Buffer =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);

/** Form built by hand, for content that no client would send. */
export const handmade = (...parts: readonly Uint8Array[]): SentForm => ({
  bytes: Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]),
  contentType: `multipart/form-data; boundary=${BOUNDARY}`,
});

export const named = (name: string, more = ''): string => `Content-Disposition: form-data; name="${name}"${more}`;

export const parse = ({ bytes, contentType }: SentForm): Form => parseFormBody(bytes, contentType);

export const refusalOf = (sent: SentForm): GatewayError => {
  try {
    parse(sent);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('was not refused');
};
