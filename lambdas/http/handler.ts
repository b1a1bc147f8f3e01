import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { type AdmissionDependencies, admit, admitAddress, rateHeaders } from '../core/accounts/admit.ts';
import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { FundedAccounts } from '../core/limits/funded-accounts.ts';
import type { AddressLimit } from '../core/limits/rate-limit.ts';
import { type MaintenanceState, maintenanceError } from '../core/maintenance.ts';
import { StoreTime } from '../core/retry.ts';
import type { OtherCredential, RouteName } from '../routes.ts';
import { limitReading, openMemory } from './answer-memory.ts';
import {
  authenticateCaller,
  type CallerIdentity,
  type CallerSecrets,
  credentialForms,
  isKeyCredential,
} from './authenticate.ts';
import type { BodyBudget } from './body-budget.ts';
import type { BodyTurns } from './body-turns.ts';
import { answerInTime } from './early-answer.ts';
import {
  type Exchange,
  type GatewayResponse,
  json,
  type RouteHandler,
  releaseRequest,
  type Summary,
} from './exchange.ts';
import type { FrontDoor } from './front-door.ts';
import { addressBucket } from './front-door.ts';
import { readBody } from './read-body.ts';
import { errorHeaders, formatOf, recordError, toErrorBody, toGatewayError } from './render-error.ts';
import { startTrace } from './request-trace.ts';
import { streamedResponse } from './response-mode.ts';
import { toUrlEvent } from './rest-event.ts';
import { corsHeaders, matchPath, matchRoute, preflightHeaders } from './router.ts';

export interface HttpDependencies {
  readonly clock: Clock;
  readonly newRequestId: () => string;
  readonly frontDoor: FrontDoor;
  /** State of the maintenance switch. Makes no store trip under traffic. Never rejects. */
  readonly maintenance: () => MaintenanceState | Promise<MaintenanceState>;
  readonly admission: AdmissionDependencies;
  /** Secrets that authenticate callers without an API key. */
  readonly secrets: CallerSecrets;
  readonly bodies: BodyBudget;
  readonly turns: BodyTurns;
  /** Accounts that are known to have a balance. */
  readonly funded: Pick<FundedAccounts, 'has'>;
  /** Rate limit of mini app requests per bot chat, because such requests cause expensive reads. */
  readonly chatLimit: AddressLimit;
  /** Undefined where no traces are exported. */
  readonly tracing?: RequestTracing | undefined;
  /** Called once for each request, after its whole response was produced. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** Traces of requests (OPS-19). */
export interface RequestTracing {
  /** Returns a new id: 32 lowercase hexadecimal digits. */
  readonly newTraceId: () => string;
  /** Called after the last byte of each response, where the host may freeze the process afterwards. Never rejects. */
  readonly afterResponse?: (() => Promise<void>) | undefined;
}

interface HandledEvent extends APIGatewayProxyEventV2 {
  exchange?: Exchange;
  proof?: CallerIdentity;
}

/**
 * Creates the chain around every route: routing, client IP and API key, body, handler, errors, and common response
 * headers. GEN-8 defines the order.
 */
export const createHandler = (deps: HttpDependencies, handlers: Partial<Record<RouteName, RouteHandler>>) =>
  middy<HandledEvent, GatewayResponse>({
    executionMode: streamedResponse,
    timeoutEarlyInMillis: 0,
    requestEnd: ({ event }) => {
      if (isHandled(event)) event.exchange?.releaseAnswer?.();
      return deps.tracing?.afterResponse?.();
    },
  })
    .before((request) => {
      request.event = toUrlEvent(request.event);
      request.event.exchange = open(deps, request.event, request.context);
      return deps.frontDoor.admit(request.event);
    })
    .before(({ event }) => route(exchangeOf(event), (name) => handlers[name] !== undefined))
    .before(({ event }) => refuseInMaintenance(deps, exchangeOf(event)))
    .before(({ event }) => authenticate(deps, event))
    .before(({ event }) => receive(deps, exchangeOf(event), event.proof))
    .after((request) => {
      request.response = complete(deps, exchangeOf(request.event), request.response);
    })
    .onError((request) => {
      const exchange = request.event.exchange ?? open(deps, request.event, request.context);
      request.response = complete(deps, exchange, refuse(exchange, request.error));
    })
    .handler((event: HandledEvent) => {
      const exchange = exchangeOf(event);
      if (isPreflight(exchange)) return { statusCode: 204, headers: preflightHeaders, body: '' };
      const handler = exchange.route && handlers[exchange.route.name];
      if (!handler) throw new Error(`no handler for ${exchange.route?.name}`);
      return answerInTime(deps, exchange, handler);
    });

const isHandled = (event: unknown): event is HandledEvent =>
  typeof event === 'object' && event !== null && 'exchange' in event;

const exchangeOf = ({ exchange }: HandledEvent): Exchange => {
  if (!exchange) throw new Error('a request without an exchange');
  return exchange;
};

const open = (deps: HttpDependencies, event: APIGatewayProxyEventV2, context: Context): Exchange => {
  const startedAtMs = deps.clock.now();
  const remainingMs = context.getRemainingTimeInMillis?.();
  return {
    requestId: deps.newRequestId(),
    startedAtMs,
    receivedAtMs: startedAtMs,
    hostEndsAtMs: remainingMs === undefined ? undefined : startedAtMs + remainingMs,
    storeTime: new StoreTime(deps.clock),
    frontDoorTimeouts: deps.frontDoor.frontDoorTimeouts,
    event,
    summary: {
      status: 0,
      frontDoorRequestId: deps.frontDoor.requestIdOf(event),
      trace: traceOf(deps, event, startedAtMs),
    },
    route: undefined,
    admission: undefined,
    body: undefined,
    releaseBody: () => undefined,
    finishesLater: false,
  };
};

const traceOf = (
  { tracing }: HttpDependencies,
  { headers, requestContext }: APIGatewayProxyEventV2,
  startedAtMs: number,
) =>
  tracing &&
  startTrace(tracing.newTraceId, { method: requestContext.http.method, traceparent: headers.traceparent, startedAtMs });

const isPreflight = ({ event }: Exchange): boolean => event.requestContext.http.method === 'OPTIONS';
const isHead = ({ event }: Exchange): boolean => event.requestContext.http.method === 'HEAD';

const route = (exchange: Exchange, served: (name: RouteName) => boolean): void => {
  const { rawPath, requestContext } = exchange.event;
  if (asksForWebSocket(exchange)) throw webSocketRefusal();
  // API Gateway cannot distinguish the paths of two functions and sends preflight requests to one of them, so any
  // function handles them.
  if (isPreflight(exchange) && matchPath(rawPath).length > 0) return;
  exchange.route = matchRoute(requestContext.http.method, rawPath, served);
  exchange.summary.route = exchange.route.name;
};

/** Whether this is a WebSocket handshake. A front door may remove `Upgrade`, but not the key. */
const asksForWebSocket = ({ event: { headers, requestContext } }: Exchange): boolean =>
  requestContext.http.method === 'GET' &&
  (headers['sec-websocket-key'] !== undefined || /(?:^|,)\s*websocket\s*(?:,|$)/i.test(headers.upgrade ?? ''));

/** Codex uses HTTP immediately after this status, and repeats the handshake after any other. */
const webSocketRefusal = (): GatewayError =>
  new GatewayError('upgrade_required', 'WebSocket is not supported. Use HTTP; a stream uses server-sent events.');

/** Precedes authentication, so that a rejected request calls no table that an operator may be restoring (OPS-15). */
const refuseInMaintenance = ({ maintenance }: HttpDependencies, exchange: Exchange): Promise<void> | undefined => {
  const route = exchange.route?.route;
  if (!route?.billed && !route?.writes) return undefined;
  const state = maintenance();
  return state instanceof Promise ? state.then(refuseUnlessOff) : refuseUnlessOff(state);
};

const refuseUnlessOff = (state: MaintenanceState): undefined => {
  if (state !== 'off') throw maintenanceError();
};

/** Returns the bucket of the client IP (LIM-1), or undefined if the front door reports none (LIM-7). */
const addressOf = ({ frontDoor }: HttpDependencies, exchange: Exchange): string | undefined => {
  const clientIp = frontDoor.addressOf(exchange.event);
  const address = addressBucket(clientIp);
  if (address === undefined) exchange.summary.lacksClientIp = true;
  else exchange.clientIp = clientIp;
  return address;
};

const authenticate = async (deps: HttpDependencies, event: HandledEvent): Promise<void> => {
  const exchange = exchangeOf(event);
  const matched = exchange.route?.route;
  if (!matched || matched.limited) {
    const credential = matched?.credential ?? 'none';
    const address = addressOf(deps, exchange);
    if (isKeyCredential(credential)) {
      const { read, param, advice } = credentialForms[credential];
      const { headers, queryStringParameters: query = {} } = event;
      const presented = { credential: read(headers, query), param, advice };
      exchange.admission = await admit(deps.admission, address, presented, exchange.storeTime);
      exchange.summary.accountId = exchange.admission.accountId;
    } else {
      await admitAddress(deps.admission, address);
      if (credential !== 'none') event.proof = await identify(deps, exchange, credential);
    }
  }
  if (exchange.summary.trace) exchange.summary.trace.admittedAtMs = deps.clock.now();
};

/** Identifies a caller without an API key. */
const identify = async (
  deps: HttpDependencies,
  exchange: Exchange,
  credential: OtherCredential,
): Promise<CallerIdentity> => {
  const proof = authenticateCaller(deps.secrets, {
    credential,
    headers: exchange.event.headers,
    nowMs: deps.clock.now(),
    fresh: exchange.route?.route.fresh,
  });
  exchange.initData = proof.initData;
  if (proof.initData) await limitChat(deps, proof.initData.chatId);
  return proof;
};

/** Limits the mini app requests of a bot chat (LIM-3). */
const limitChat = async ({ chatLimit }: HttpDependencies, chatId: string): Promise<void> => {
  const name = `chat#${chatId}`;
  if (chatLimit.takeLocal(name) && (await chatLimit.takeShared(name))) return;
  throw new GatewayError(
    'rate_limit_exceeded',
    'Too many requests from this mini app. Send fewer requests and retry.',
    {
      limit: 'chat',
    },
  );
};

const receive = async (
  deps: HttpDependencies,
  exchange: Exchange,
  proof: CallerIdentity | undefined,
): Promise<void> => {
  const taken = exchange.route?.route.body ?? 'none';
  if (taken === 'none') return;
  const beganAtMs = deps.clock.now();
  const owners = ownersOf(deps, exchange);
  await readBody(exchange, taken, { budget: deps.bodies, turns: deps.turns, owners }, proof?.checkBody);
  exchange.openMemory = (until) => openMemory(deps, exchange, owners, until);
  exchange.receivedAtMs = deps.clock.now();
  exchange.summary.uploadMs = exchange.receivedAtMs - beganAtMs;
};

/**
 * Returns the owners whose shares of the body budget the body uses (GEN-14). Clients without a readable IP share no owner,
 * because one of them would block the others (LIM-7).
 */
const ownersOf = (deps: HttpDependencies, exchange: Exchange): readonly string[] => {
  const address = addressOf(deps, exchange);
  const addresses = address === undefined ? [] : [`address#${address}`];
  if (!exchange.admission) return addresses;
  const { accountId } = exchange.admission;
  const account = `account#${accountId}`;
  return deps.funded.has(accountId) ? [account] : [account, ...addresses];
};

const refuse = (exchange: Exchange, thrown: unknown): GatewayResponse => {
  const error = toGatewayError(thrown);
  exchange.finishesLater = false;
  recordError(exchange.summary, error);
  const { rawPath, headers } = exchange.event;
  const body = toErrorBody(error, formatOf(rawPath, headers), exchange.requestId);
  return json(error.status, body, errorHeaders(error));
};

const complete = (
  deps: HttpDependencies,
  exchange: Exchange,
  response: GatewayResponse | null | undefined,
): GatewayResponse => {
  if (!response) throw new Error('a handler answered nothing');
  const format = formatOf(exchange.event.rawPath, exchange.event.headers);
  // The response stream outlives the handler. A response that was started early may still need the request.
  if (!exchange.startedResponse) releaseRequest(exchange);
  exchange.summary.status = response.statusCode;
  if (!exchange.finishesLater) {
    exchange.summary.totalMs = deps.clock.now() - exchange.startedAtMs;
    deps.finished(exchange.requestId, exchange.summary);
  }
  if (exchange.releaseAnswer) limitReading(deps, exchange, response);
  const text = typeof response.body === 'string' ? response.body : '';
  return {
    statusCode: response.statusCode,
    // A relayed file handles HEAD itself.
    body: text !== '' && isHead(exchange) ? '' : response.body,
    headers: {
      // With its length, a response leaves in one piece instead of as a chunk.
      ...(text !== '' && { 'content-length': String(Buffer.byteLength(text)) }),
      ...corsHeaders,
      'x-request-id': exchange.requestId,
      ...(format === 'messages' ? { 'request-id': exchange.requestId } : {}),
      ...(exchange.admission ? rateHeaders(exchange.admission.rate) : {}),
      // The mini app runs in a browser, and its responses may contain a new key.
      ...(exchange.route?.route.credential === 'init_data' ? { 'cache-control': 'no-store' } : {}),
      ...response.headers,
    },
  };
};
