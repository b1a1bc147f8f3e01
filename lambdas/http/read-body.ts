import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { BODY_BYTES_MAX, BODY_LIMIT_TEXT } from '../limits.ts';
import type { Route } from '../routes.ts';
import { type BodyBudget, FREE_BYTES } from './body-budget.ts';
import { bodySourceOf } from './body-source.ts';
import type { BodyTurns } from './body-turns.ts';
import type { Exchange } from './exchange.ts';
import { isForm, parseFormBody } from './form-body.ts';
import { addedByParsing, atOnce, inOneStep, parseBody, type Steps, scanBody } from './json-body.ts';

/**
 * Reads the body. Checks the budget (GEN-14), then 413, then 415 and the 400s of JSON or the form, in this order
 * (GEN-8).
 */
export const readBody = async (
  exchange: Exchange,
  taken: Exclude<Route['body'], 'none'>,
  {
    budget,
    turns,
    owners,
  }: { readonly budget: BodyBudget; readonly turns: BodyTurns; readonly owners: readonly string[] },
  /** Called with the whole body before it is parsed; throws to reject it. */
  check: (bytes: Uint8Array) => void = () => undefined,
): Promise<void> => {
  const { event } = exchange;
  const source = bodySourceOf(event);
  const isTooLarge = (source.declaredBytes ?? 0) > BODY_BYTES_MAX;
  const lease = budget.enter(owners, isTooLarge ? FREE_BYTES + 1 : source.declaredBytes);
  exchange.releaseBody = lease.end;
  const room = lease.reserve();
  if (room) await room;
  if (isTooLarge) {
    // The size is checked only when the budget has room (GEN-8).
    await lease.grow(FREE_BYTES + 1);
    throw tooLarge();
  }
  const bytes = await source.read(BODY_BYTES_MAX, lease.grow);
  if (bytes === 'too-long') throw tooLarge();
  if (bytes === 'incomplete')
    throw new GatewayError('invalid_request_error', 'The body did not arrive completely. Send it again.');
  check(bytes);
  refuseEncoding(event.headers);
  const contentType = event.headers['content-type'] ?? '';
  const inTurn = <Result>(steps: Steps<Result>): Promise<Result> | Result =>
    bytes.length <= SHORT_BYTES ? atOnce(steps) : turns.run(owners, steps);
  if (taken === 'form' || (taken === 'json-or-form' && isForm(contentType))) {
    if (!isForm(contentType)) throw invalidRequest('content-type', FORM_WANTED);
    lease.whole();
    exchange.form = await inTurn(inOneStep(() => parseFormBody(bytes, contentType)));
    return;
  }
  refuseMultipart(contentType, taken);
  const scan = await inTurn(scanBody(bytes));
  const added = addedByParsing(scan, bytes.length);
  if (added > 0) await lease.expand(added);
  lease.whole();
  exchange.body = { json: await inTurn(parseBody(bytes, scan)), bytes: bytes.length };
};

/** Longest body in bytes that is parsed without waiting for a turn. It takes a few milliseconds. */
const SHORT_BYTES = 32 * 1024;

/** Message for a body that must be a form (GEN-12). */
const FORM_WANTED = 'content-type: this endpoint accepts multipart/form-data with the files.';

const tooLarge = (): GatewayError =>
  new GatewayError('payload_too_large', `The body is larger than ${BODY_LIMIT_TEXT}. Send a smaller body.`);

/** Rejects a compressed body (GEN-12). */
const refuseEncoding = (headers: Readonly<Record<string, string | undefined>>): void => {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (!encoding || encoding === 'identity') return;
  const message = 'content-encoding: only identity is supported. Send the body without compression.';
  throw new GatewayError('unsupported_media_type', message, { param: 'content-encoding' });
};

/** GEN-12: JSON is accepted with any content type except that of a form. */
const refuseMultipart = (contentType: string, taken: Route['body']): void => {
  if (!contentType.trim().toLowerCase().startsWith('multipart/')) return;
  const fix = taken === 'json' ? 'JSON, not a multipart form' : 'JSON or multipart/form-data';
  throw invalidRequest('content-type', `content-type: this endpoint accepts ${fix}.`);
};
