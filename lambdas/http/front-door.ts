import { isIPv4, isIPv6 } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { isEqual } from '../core/signature.ts';

/** Timeout of a front door, and which responses may start before their status is known. */
export interface FrontDoorTimeouts {
  readonly silenceMs: number;
  /** Whether a stream starts early with a keep-alive (CHAT-11). */
  readonly commitsStreams: boolean;
  /**
   * Whether a plain JSON response starts early with white space (ERR-6); otherwise it ends as 504 before the timeout.
   */
  readonly commitsJson: boolean;
}

/** Front door between the clients and this program. */
export interface FrontDoor {
  /** AUTH-9. Throws `direct_access_refused` for a request that bypassed this front door, or returns a promise. */
  admit(event: APIGatewayProxyEventV2): Promise<void> | undefined;
  /** LIM-7: client IP as the front door reports it. */
  addressOf(event: APIGatewayProxyEventV2): string | undefined;
  /** Id of this request in the log of the front door. */
  requestIdOf(event: APIGatewayProxyEventV2): string | undefined;
  /** Undefined if this front door has no timeout. */
  readonly frontDoorTimeouts: FrontDoorTimeouts | undefined;
}

/** Clients connect directly or through a proxy without its own rules. */
export const openFrontDoor: FrontDoor = {
  admit: ({ headers }) => {
    delete headers[CLIENT_IP_HEADER];
    return undefined;
  },
  addressOf: ({ requestContext }) => requestContext.http.sourceIp,
  requestIdOf: ({ requestContext }) => toRequestId(requestContext.requestId),
  frontDoorTimeouts: undefined,
};

/** Secrets that the edge sends. */
export interface OriginSecrets {
  /** Valid secrets: two during a rotation. */
  current(): readonly string[];
  /** Reads the secrets again, unless that happened just now. Never rejects. */
  refresh(): Promise<void>;
}

const SECRET_HEADER = 'x-origin-secret';

/** The edge function sets it for every request and replaces the value of the client. Other front doors remove it. */
const CLIENT_IP_HEADER = 'x-client-ip';

/** Accepts only requests that came through CloudFront. */
export const createEdgeFrontDoor = (secrets: OriginSecrets, frontDoorTimeouts: FrontDoorTimeouts): FrontDoor => ({
  admit: ({ headers }) => {
    const secret = headers[SECRET_HEADER] ?? '';
    // Later code must not log or forward it.
    delete headers[SECRET_HEADER];
    return isOneOf(secrets.current(), secret) ? undefined : admitRefreshed(secrets, secret);
  },
  addressOf: ({ headers }) => headers[CLIENT_IP_HEADER],
  requestIdOf: ({ headers }) => toRequestId(headers['x-amz-cf-id']),
  frontDoorTimeouts,
});

/** The secret may be newer than this process. An empty value is never valid. */
const admitRefreshed = async (secrets: OriginSecrets, secret: string): Promise<void> => {
  if (secret !== '') await secrets.refresh();
  if (!isOneOf(secrets.current(), secret)) throw refused();
};

/** Compares with every secret, so that the time does not depend on which one matches. */
const isOneOf = (secrets: readonly string[], secret: string): boolean =>
  secret !== '' && secrets.filter((one) => isEqual(secret, one)).length > 0;

const refused = (): GatewayError =>
  new GatewayError(
    'direct_access_refused',
    'Direct access to this URL is not allowed. Use the public base URL of the API.',
  );

/** A client of API Gateway, or one that bypasses the edge, can choose this id. */
const toRequestId = (told: string | undefined): string | undefined =>
  told !== undefined && /^[\w=-]{1,128}$/.test(told) ? told : undefined;

const mappedV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * Returns the rate limit key of a client IP: the IPv4 address, or the /64 of an IPv6 address, because a household or
 * server has a whole /64. Returns undefined if the front door reports no readable address (LIM-7).
 */
export const addressBucket = (address: string | undefined): string | undefined => {
  const text = address ?? '';
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  // URL parsing returns the canonical form; a zone such as %eth0 is removed first.
  const canonical = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = mappedV4.exec(canonical) ?? [];
  return high && low ? toV4(Number.parseInt(high, 16), Number.parseInt(low, 16)) : `${firstFourGroups(canonical)}::/64`;
};

const toV4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

const firstFourGroups = (canonical: string): string => {
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return left.slice(0, 4).join(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
};
