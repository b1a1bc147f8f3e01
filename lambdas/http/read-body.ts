import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import type { Route } from '../routes.ts';
import { type BodyBudget, FREE_BYTES } from './body-budget.ts';
import { BODY_BYTES_MAX, bodySourceOf } from './body-source.ts';
import type { Exchange } from './exchange.ts';
import { isForm, parseFormBody } from './form-body.ts';
import { parseJsonBody } from './json-body.ts';

/** GEN-14, then 413, then 415 and the 400s of the JSON or the form, in this order (GEN-8). */
export const readBody = async (
  exchange: Exchange,
  taken: Exclude<Route['body'], 'none'>,
  budget: BodyBudget,
  /** Called with all of the body before it is looked into; throws for one that is not to be. */
  check: (bytes: Uint8Array) => void = () => undefined,
): Promise<void> => {
  const { event } = exchange;
  const source = bodySourceOf(event);
  const lease = budget.enter();
  exchange.releaseBody = lease.end;
  if ((source.declaredBytes ?? 0) > BODY_BYTES_MAX) {
    // The size is told only when there would be room for it (GEN-8).
    await lease.grow(FREE_BYTES + 1);
    throw tooLarge();
  }
  const bytes = await source.read(BODY_BYTES_MAX, lease.grow);
  lease.whole();
  if (bytes === 'too-long') throw tooLarge();
  if (bytes === 'incomplete') throw new GatewayError('invalid_request_error', 'The body did not arrive whole.');
  check(bytes);
  refuseEncoding(event.headers);
  const contentType = event.headers['content-type'] ?? '';
  if (taken === 'form' || (taken === 'json-or-form' && isForm(contentType))) {
    if (!isForm(contentType)) throw invalidRequest('content-type', FORM_WANTED);
    exchange.form = parseFormBody(bytes, contentType);
    return;
  }
  refuseMultipart(contentType, taken);
  exchange.body = { json: parseJsonBody(bytes), bytes: bytes.length };
};

/** GEN-12. */
const FORM_WANTED = 'content-type: this endpoint takes multipart/form-data, with the files in it.';

const tooLarge = (): GatewayError =>
  new GatewayError('payload_too_large', `The body is larger than ${BODY_BYTES_MAX} bytes (20 MiB).`);

/** GEN-12. */
const refuseEncoding = (headers: Readonly<Record<string, string | undefined>>): void => {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (!encoding || encoding === 'identity') return;
  const message = 'content-encoding: only identity is read. Send the body uncompressed.';
  throw new GatewayError('unsupported_media_type', message, { param: 'content-encoding' });
};

/** GEN-12: JSON is read whatever its content type, but not out of a form. */
const refuseMultipart = (contentType: string, taken: Route['body']): void => {
  if (!contentType.trim().toLowerCase().startsWith('multipart/')) return;
  const fix =
    taken === 'json' ? 'JSON, not a multipart form' : 'JSON or multipart/form-data, no other kind of multipart';
  throw invalidRequest('content-type', `content-type: this endpoint takes ${fix}.`);
};
