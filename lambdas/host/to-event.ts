import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { withUnreadBody } from '../http/body-source.ts';
import { createBodySource } from './request-body.ts';

/**
 * Converts a request to the event of a function URL (payload format 2.0), without the body, which is read later.
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
 */
export const toEvent = (request: IncomingMessage, nowMs: number, sourceIp = remoteAddress): APIGatewayProxyEventV2 => {
  const { url = '/' } = request;
  const mark = url.indexOf('?');
  const rawPath = mark < 0 ? url : url.slice(0, mark);
  const rawQueryString = mark < 0 ? '' : url.slice(mark + 1);
  const all = joined(request);
  const { cookie } = all;
  const headers = cookie === undefined ? all : withoutCookie(all);
  return withUnreadBody(
    {
      version: '2.0',
      routeKey: '$default',
      rawPath,
      rawQueryString,
      headers,
      ...(cookie ? { cookies: cookie.split(/; */) } : {}),
      ...(rawQueryString ? { queryStringParameters: toParameters(rawQueryString) } : {}),
      requestContext: {
        accountId: 'anonymous',
        apiId: 'local',
        domainName: 'localhost',
        domainPrefix: 'local',
        http: {
          method: request.method ?? 'GET',
          path: rawPath,
          protocol: `HTTP/${request.httpVersion}`,
          sourceIp: sourceIp(request),
          userAgent: headers['user-agent'] ?? '',
        },
        requestId: '',
        routeKey: '$default',
        stage: '$default',
        time: '',
        timeEpoch: nowMs,
      },
      isBase64Encoded: false,
    },
    createBodySource(request),
  );
};

const remoteAddress = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? '';

const joined = (request: IncomingMessage): NodeJS.Dict<string> => {
  const { headers } = request;
  if (!hasRepeatedHeader(request) && isOfStrings(headers)) return headers;
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [
      name,
      (values ?? []).join(name === 'cookie' ? '; ' : ','),
    ]),
  );
};

const withoutCookie = ({ cookie: _, ...headers }: NodeJS.Dict<string>): NodeJS.Dict<string> => headers;

/** Whether a header name was sent more than once. Node builds its map of all values only if asked. */
export const hasRepeatedHeader = ({ headers, rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.length !== 2 * Object.keys(headers).length;

/** Only `set-cookie` is a list. */
const isOfStrings = (headers: IncomingMessage['headers']): headers is NodeJS.Dict<string> =>
  headers['set-cookie'] === undefined;

const toParameters = (query: string): Record<string, string> => {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(',')]));
};
