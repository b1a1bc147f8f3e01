import type * as z from 'zod';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { HOLDS_MAX } from '../../lambdas/core/ledger/ledger.ts';
import { type ErrorShape, errorShapes } from './error-shapes.ts';
import type { Reply } from './hostile-wire.ts';
import type { InProcessGateway } from './in-process-gateway.ts';

export type ErrorBody = z.output<typeof errorShapes.plain>;

const shapeNames = ['plain', 'messages', 'generate_content'] as const;

/**
 * Reads an error body. Fails the test unless it matches GEN-3 and ERR-1. Returns the type of the plain format. `any`
 * accepts every format, for a target that belongs to no protocol.
 */
export const readError = (
  { status, body }: Pick<Reply, 'status' | 'body'>,
  shape: ErrorShape | 'any' = 'plain',
): ErrorBody => {
  const json = parse(body);
  const wanted = shape === 'any' ? shapeNames : [shape];
  const error = wanted.map((name) => errorShapes[name].safeParse(json).data).find((found) => found !== undefined);
  if (!error) throw new Error(`${status} without the error shape of ${shape}: ${body.slice(0, 300)}`);
  const { message, code, param } = error;
  const row = new GatewayError(code, '');
  // A provider's 529 stays one for clients of its own format (ERR-9).
  const isKept = shape === 'messages' && code === 'upstream_capacity' && status === 529;
  if (row.status !== status && !isKept) throw new Error(`${code} has status ${row.status}, not ${status}`);
  return { message, code, param, type: row.type };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const NAMING = [400, 404, 422];
/** Wording of zod's own messages. */
const libraryWords = /(?:^|: )(?:Invalid input|Too (?:small|big): expected|Unrecognized key|Invalid option: expected)/;

/**
 * Throws if a response must not be sent to any client: status 500, another error shape, zod's wording, or a message
 * that does not name its `param`.
 */
export const judge = (reply: Reply, shape: ErrorShape | 'any' = 'plain'): void => {
  if (reply.status === 500) throw new Error(`status 500: ${reply.body.slice(0, 300)}`);
  if (reply.status < 400) return;
  const { message, param } = readError(reply, shape);
  if (libraryWords.test(message)) throw new Error(`words of the validation library: ${message}`);
  if (NAMING.includes(reply.status) && param !== null && !message.includes(param)) {
    throw new Error(`${reply.status}: the message does not name ${JSON.stringify(param).slice(0, 200)}: ${message}`);
  }
};

const hasHeader = (headers: readonly string[], names: readonly string[]): boolean =>
  headers.some((line) => names.includes(line.replace(/:.*$/, '').toLowerCase()));

/**
 * Returns the error format that clients of an address expect. The model lists serve all formats and select one by the
 * headers (CAT-7).
 */
export const shapeAt = (target: string, headers: readonly string[] = []): ErrorShape => {
  if (/^\/v1\/messages(\/|\?|$)/.test(target)) return 'messages';
  if (/^\/v1beta\/|^\/v1\/models\/[^/]+:[a-zA-Z]+(\?|$)/.test(target)) return 'generate_content';
  if (!/^\/v1\/models(\/|\?|$)/.test(target)) return 'plain';
  if (hasHeader(headers, ['x-provider-api-key', 'x-goog-api-key'])) return 'generate_content';
  return hasHeader(headers, ['x-api-key', 'provider-version', 'anthropic-version']) ? 'messages' : 'plain';
};

/** Amounts in pico-USD. */
export interface Money {
  readonly spent: bigint;
  readonly available: bigint;
}

/** Returns the money of an account whose requests have all ended. Throws while it has a hold. */
export const moneyOf = async ({ ledger }: InProcessGateway, accountId: string): Promise<Money> => {
  const account = await ledger.readAccount(accountId);
  if (!account) throw new Error('the account is gone');
  if (account.holds.size > 0) throw new Error(`${account.holds.size} of at most ${HOLDS_MAX} holds are still open`);
  if (account.availablePicos !== account.creditedPicos - account.spentPicos)
    throw new Error('the balance does not add up');
  return { spent: account.spentPicos, available: account.availablePicos };
};

const plainNames = Object.getOwnPropertyNames(Object.prototype).length;

/** Throws if `Object.prototype` has changed. */
export const refusePollution = (): void => {
  const inherited: Record<string, unknown> = {};
  if (Object.getOwnPropertyNames(Object.prototype).length !== plainNames || 'polluted' in inherited) {
    throw new Error('Object.prototype was written to');
  }
};
