import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { BODY_BYTES_MAX, BODY_LIMIT_TEXT } from '../limits.ts';
import type { Route } from '../routes.ts';
import { type BodyBudget, type BodyLease, FREE_BYTES } from './body-budget.ts';
import { type BodySource, bodySourceOf } from './body-source.ts';
import type { BodyTurns } from './body-turns.ts';
import { type Coding, codingOf, decodeBody, decodingBytes } from './decode-body.ts';
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
  /** Called with the whole body as it was sent, before it is decoded; throws to reject it. */
  check: (bytes: Uint8Array) => void = () => undefined,
): Promise<void> => {
  const { event } = exchange;
  const source = bodySourceOf(event);
  const coding = codingOf(event.headers['content-encoding']);
  const isTooLarge = (source.declaredBytes ?? 0) > BODY_BYTES_MAX;
  const lease = budget.enter(owners, isTooLarge ? FREE_BYTES + 1 : bytesToReserve(source, coding));
  exchange.releaseBody = lease.end;
  const room = lease.reserve();
  if (room) await room;
  if (isTooLarge) {
    // The size is checked only when the budget has room (GEN-8).
    await lease.grow(FREE_BYTES + 1);
    throw tooLarge();
  }
  const bytes = await readBytes(source, coding, lease, check);
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

/**
 * Bytes to reserve before the body is read. Those of decoding are among them, because compressed bodies that have arrived
 * would block each other.
 */
const bytesToReserve = ({ declaredBytes = BODY_BYTES_MAX }: BodySource, coding: Coding | 'unsupported' | undefined) =>
  declaredBytes + (coding && coding !== 'unsupported' ? decodingBytes(coding) : 0);

/** Returns the decoded body. A function of its own, so that no compressed body stays in memory. */
const readBytes = async (
  source: BodySource,
  coding: Coding | 'unsupported' | undefined,
  lease: BodyLease,
  check: (bytes: Uint8Array) => void,
): Promise<Uint8Array> => {
  const sent = await source.read(BODY_BYTES_MAX, lease.grow);
  if (sent === 'too-long') throw tooLarge();
  if (sent === 'incomplete')
    throw new GatewayError('invalid_request_error', 'The body did not arrive completely. Send it again.');
  check(sent);
  if (!coding) return sent;
  if (coding === 'unsupported' || source.isText) throw unsupportedCoding(coding);
  if (sent.length === 0) return sent;
  const decoded = await decodeBody(sent, coding, lease.grow);
  if (decoded === 'too-long') throw tooLarge();
  lease.replace(decoded.length);
  return decoded;
};

const unsupportedCoding = (coding: Coding | 'unsupported'): GatewayError => {
  const problem =
    coding === 'unsupported'
      ? 'must be one of gzip, br, zstd, identity'
      : 'this URL of the gateway does not take compressed bodies';
  const message = `content-encoding: ${problem}. Send the body without compression.`;
  return new GatewayError('unsupported_media_type', message, { param: 'content-encoding' });
};

/** GEN-12: JSON is accepted with any content type except that of a form. */
const refuseMultipart = (contentType: string, taken: Route['body']): void => {
  if (!contentType.trim().toLowerCase().startsWith('multipart/')) return;
  const fix = taken === 'json' ? 'JSON, not a multipart form' : 'JSON or multipart/form-data';
  throw invalidRequest('content-type', `content-type: this endpoint accepts ${fix}.`);
};
