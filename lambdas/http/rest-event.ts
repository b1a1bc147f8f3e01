import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

/**
 * Converts an event of an API Gateway REST API (format 1.0) to the format of function URLs (2.0). Returns other events
 * unchanged. https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export const toUrlEvent = (event: APIGatewayProxyEventV2 | APIGatewayProxyEvent): APIGatewayProxyEventV2 =>
  isRestEvent(event) ? fromRestEvent(event) : event;

const isRestEvent = (event: APIGatewayProxyEventV2 | APIGatewayProxyEvent): event is APIGatewayProxyEvent =>
  'httpMethod' in event;

/**
 * The path is as the client sent it, without the stage, which only `requestContext.path` contains. A base path of a
 * custom domain would be in both, so the gateway's domain has none.
 */
const fromRestEvent = (event: APIGatewayProxyEvent): APIGatewayProxyEventV2 => {
  const { requestContext, path, httpMethod, body, isBase64Encoded } = event;
  const { cookie, ...headers } = joinHeaders(event);
  const query = parametersOf(event);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: toQueryString(query),
    headers,
    ...(cookie ? { cookies: cookie.split(/; */) } : {}),
    ...(query.length > 0 ? { queryStringParameters: joinParameters(query) } : {}),
    requestContext: {
      accountId: requestContext.accountId,
      apiId: requestContext.apiId,
      domainName: requestContext.domainName ?? '',
      domainPrefix: requestContext.domainPrefix ?? '',
      http: {
        method: httpMethod,
        path,
        protocol: requestContext.protocol,
        sourceIp: requestContext.identity.sourceIp,
        userAgent: requestContext.identity.userAgent ?? '',
      },
      requestId: requestContext.requestId,
      routeKey: '$default',
      stage: requestContext.stage,
      time: requestContext.requestTime ?? '',
      timeEpoch: requestContext.requestTimeEpoch,
    },
    ...(body === null ? {} : { body }),
    isBase64Encoded,
  };
};

type Values = readonly (readonly [name: string, values: readonly string[]])[];

/** API Gateway keeps the case of header names, so a name can appear twice. It sends null for an absent map. */
const joinHeaders = ({ headers, multiValueHeaders }: APIGatewayProxyEvent): Record<string, string> => {
  const sent = Map.groupBy(valuesOf(multiValueHeaders, headers), ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...sent].map(([name, found]) => [
      name,
      // With the space, two Idempotency-Keys join into an invalid key, because a key has no space (IDEM-6).
      found.flatMap(([, values]) => values).join(name === 'cookie' ? '; ' : ', '),
    ]),
  );
};

const parametersOf = (event: APIGatewayProxyEvent): Values =>
  valuesOf(event.multiValueQueryStringParameters, event.queryStringParameters);

const valuesOf = (
  multiple: Readonly<Record<string, readonly string[] | undefined>> | null,
  single: Readonly<Record<string, string | undefined>> | null,
): Values => {
  const entries = multiple ? Object.entries(multiple) : Object.entries(single ?? {}).map(toEntry);
  return entries.map(([name, values = []]) => [name, values]);
};

const toEntry = ([name, value]: readonly [string, string | undefined]): [string, string[]] => [
  name,
  value === undefined ? [] : [value],
];

/** Encodes the query again, because API Gateway decodes it. */
const toQueryString = (query: Values): string =>
  query.flatMap(([name, values]) => values.map((value) => `${encode(name)}=${encode(value)}`)).join('&');

/** An unpaired surrogate would throw. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

const joinParameters = (query: Values): Record<string, string> =>
  Object.fromEntries(query.map(([name, values]) => [name, values.join(',')]));
