import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import type { AnswerBy, Caller } from '../core/paid-call/dependencies.ts';
import type { NamedFallbacks } from '../core/text/conversation.ts';
import { admissionOf, type Exchange } from '../http/exchange.ts';

/** Options of a paid request that the client sends in headers. */
export interface PaidHeaders {
  /** IDEM-6. Undefined if it was not sent, and for a dry run, which needs none (BILL-16). */
  readonly idempotencyKey: string | undefined;
  readonly dryRun: boolean;
  /** Fallback models that the client named (FALL-1). Undefined without a header. */
  readonly fallbacks: NamedFallbacks | undefined;
  /** Whether fields that would be ignored are a 400 (GEN-16). */
  readonly requireParameters: boolean;
}

/** Headers that a route supports. */
export interface PaidHeaderRules {
  readonly takesKeys: boolean;
  readonly takesFallback: boolean;
}

type Headers = Readonly<Record<string, string | undefined>>;

/** Rules for most routes (IDEM-5, FALL-4). */
export const noKeys: PaidHeaderRules = { takesKeys: false, takesFallback: false };

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/**
 * Throws the 400 that names the header. `streamed`: the client requested a stream, and a streamed response cannot be
 * stored.
 */
export const readPaidHeaders = (headers: Headers, rules: PaidHeaderRules, streamed: boolean): PaidHeaders => {
  const dryRun = readFlag(headers, 'x-service-dry-run');
  const key = readKey(headers, dryRun || (rules.takesKeys && !streamed));
  return {
    dryRun,
    idempotencyKey: dryRun ? undefined : key,
    fallbacks: readFallbacks(headers, rules),
    requireParameters: readFlag(headers, 'x-service-require-parameters'),
  };
};

const readFlag = (headers: Headers, name: string): boolean => {
  const sent = headers[name];
  if (sent === undefined || sent === 'false') return false;
  if (sent === 'true') return true;
  throw invalidRequest(name, `${name}: must be true or false.`);
};

const idempotent =
  'responses of /v1/chat/completions and /v1/responses without a stream, and with JSON bodies at /v1/images/generations, /v1/images/edits and /v1/videos';

const readKey = ({ 'idempotency-key': sent }: Headers, taken: boolean): string | undefined => {
  if (sent === undefined) return undefined;
  if (!VISIBLE_ASCII.test(sent)) {
    throw invalidRequest('idempotency-key', 'idempotency-key: must have 1 to 255 visible ASCII characters.');
  }
  if (taken) return sent;
  throw new GatewayError(
    'idempotency_not_supported',
    `idempotency-key: works only on ${idempotent}. Remove the header.`,
    {
      param: 'idempotency-key',
    },
  );
};

const FALLBACKS_MAX = 3;
const ONE_FALLBACK = 'x-service-fallback-model';
const FALLBACK_LIST = 'x-service-fallback-models';

/** Reads both headers as a list; that of `x-service-fallback-model` has one id. The models are checked later (FALL-4). */
const readFallbacks = (headers: Headers, { takesFallback }: PaidHeaderRules): NamedFallbacks | undefined => {
  const one = headers[ONE_FALLBACK];
  const list = headers[FALLBACK_LIST];
  const sent = list ?? one;
  if (sent === undefined) return undefined;
  const header = list === undefined ? ONE_FALLBACK : FALLBACK_LIST;
  const refused = (problem: string): GatewayError =>
    new GatewayError('invalid_fallback_model', `${header}: ${problem}`, { param: header });
  if (!takesFallback) throw refused('works only on /v1/chat/completions and /v1/responses. Remove the header.');
  if (list !== undefined && one !== undefined) {
    throw refused(`cannot be combined with ${ONE_FALLBACK}. Remove one of the two headers.`);
  }
  const modelIds = sent.split(',').map((id) => id.trim());
  if (list === undefined && modelIds.length > 1) {
    throw refused(`takes exactly one model id. Use ${FALLBACK_LIST} for up to ${FALLBACKS_MAX}.`);
  }
  if (modelIds.includes('')) throw refused('has an empty entry. Send a model id, or remove the header or the comma.');
  if (modelIds.length > FALLBACKS_MAX) {
    throw refused(`has ${modelIds.length} model ids, and the limit is ${FALLBACKS_MAX}. Remove the rest.`);
  }
  return { header, modelIds };
};

/** Caller of the exchange and the deadline of its response. */
export const callerOf = (exchange: Exchange, answerBy: AnswerBy | undefined): Caller => {
  const { requestId, hostEndsAtMs, storeTime, summary } = exchange;
  const { accountId, key, estimate, allowance, cap } = admissionOf(exchange);
  const { keyId, models } = key;
  const endpoint = exchange.route?.route.path;
  const providerTook = (ms: number): void => {
    summary.providerMs = ms;
  };
  return {
    accountId,
    keyId,
    models,
    endpoint,
    requestId,
    hostEndsAtMs,
    storeTime,
    answerBy,
    estimate,
    allowance,
    cap,
    openMemory: exchange.openMemory,
    providerTook,
    calls: summary.trace?.calls,
  };
};
