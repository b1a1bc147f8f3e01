import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { ErrorCode } from '../../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { toErrorBody } from '../../lambdas/http/render-error.ts';
import { PageRefusal } from './guard.ts';

/**
 * Nothing is cached, everything comes from this origin, and no other page can frame this one. This page frames the mini
 * app.
 */
export const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...safeHeaders, 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

/** Codes of the gateway by status. Any other status has the general code. */
const codes: Readonly<Record<number, ErrorCode>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'service_unavailable',
};

/** Responds with an error in the shape of the gateway's own ones (GEN-3). */
export function answerRefusal(response: ServerResponse, { status, message }: PageRefusal): void {
  const error = new GatewayError(codes[status] ?? 'invalid_request_error', message);
  answerJson(response, status, toErrorBody(error, 'plain', ''));
}

/** Responds with a file, whose bytes are compressed with gzip or not. */
export function answerBytes(
  response: ServerResponse,
  mediaType: string,
  bytes: Uint8Array,
  isCompressed = false,
): void {
  response.writeHead(200, {
    ...{ ...safeHeaders, vary: 'accept-encoding', 'content-type': mediaType, 'content-length': bytes.length },
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}

const BODY_BYTES_MAX = 64 * 1024;

/** Parses the body by the schema. Throws PageRefusal. */
export async function readBody<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(parseJson(await readText(request)));
  if (parsed.success) return parsed.data;
  throw new PageRefusal(400, z.prettifyError(parsed.error));
}

/** Returns the body as text. Throws PageRefusal for more than 64 KiB, or for bytes that are not UTF-8. */
export async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new PageRefusal(413, `The body has more than ${BODY_BYTES_MAX} bytes.`);
    pieces.push(piece);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    throw new PageRefusal(400, 'The body is not UTF-8.');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PageRefusal(400, 'The body is not JSON.');
  }
}
