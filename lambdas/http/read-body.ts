import { GatewayError } from '../core/errors/gateway-error.ts';
import { type BodyBudget, FREE_BYTES } from './body-budget.ts';
import { BODY_BYTES_MAX, bodySourceOf } from './body-source.ts';
import type { Exchange } from './exchange.ts';
import { parseJsonBody } from './json-body.ts';

/** GEN-14, then 413, then 415 and the 400s of the JSON, in this order (GEN-8). */
export const readJsonBody = async (exchange: Exchange, budget: BodyBudget): Promise<void> => {
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
  refuseEncodings(event.headers);
  exchange.body = { json: parseJsonBody(bytes), bytes: bytes.length };
};

const tooLarge = (): GatewayError =>
  new GatewayError('payload_too_large', `The body is larger than ${BODY_BYTES_MAX} bytes (20 MiB).`);

/** GEN-12: JSON is read whatever its content type, but not out of a form and not out of a compressed body. */
const refuseEncodings = (headers: Readonly<Record<string, string | undefined>>): void => {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') {
    throw new GatewayError(
      'unsupported_media_type',
      'content-encoding: only identity is read. Send the body uncompressed.',
      {
        param: 'content-encoding',
      },
    );
  }
  if (headers['content-type']?.trim().toLowerCase().startsWith('multipart/')) {
    throw new GatewayError('invalid_request_error', 'content-type: this endpoint takes JSON, not a multipart form.', {
      param: 'content-type',
    });
  }
};
