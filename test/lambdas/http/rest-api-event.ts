import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

type Pair = readonly [name: string, value: string];

export interface RestSent {
  readonly method?: string;
  /** Path as the client sent it, without the query. */
  readonly path?: string;
  /** Decoded parameters, in order. */
  readonly query?: readonly Pair[];
  readonly headers?: readonly Pair[];
  readonly body?: string | Uint8Array;
  readonly base64?: boolean;
  readonly sourceIp?: string;
}

const last = (pairs: readonly Pair[]): Record<string, string> | null =>
  pairs.length === 0 ? null : Object.fromEntries(pairs);

const all = (pairs: readonly Pair[]): Record<string, string[]> | null => {
  const groups = [...Map.groupBy(pairs, ([name]) => name)];
  return pairs.length === 0
    ? null
    : Object.fromEntries(groups.map(([name, found]) => [name, found.map(([, value]) => value)]));
};

/**
 * Event of a REST API for a proxy integration, after the sample of
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export const restApiEvent = (sent: RestSent = {}): APIGatewayProxyEvent => {
  const { method = 'GET', path = '/', query = [], body, base64 = false, sourceIp = '203.0.113.7' } = sent;
  const headers: readonly Pair[] = [['Host', 'id.execute-api.eu-west-1.amazonaws.com'], ...(sent.headers ?? [])];
  const none = {
    ...{ accessKey: null, accountId: null, apiKey: null, apiKeyId: null, caller: null, clientCert: null },
    ...{ cognitoAuthenticationProvider: null, cognitoAuthenticationType: null, cognitoIdentityId: null },
    ...{ cognitoIdentityPoolId: null, principalOrgId: null, user: null, userArn: null },
  };
  return {
    resource: '/{proxy+}',
    path,
    httpMethod: method,
    headers: last(headers) ?? {},
    multiValueHeaders: all(headers) ?? {},
    queryStringParameters: last(query),
    multiValueQueryStringParameters: all(query),
    pathParameters: { proxy: path.slice(1) },
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'id',
      authorizer: null,
      domainName: 'id.execute-api.eu-west-1.amazonaws.com',
      domainPrefix: 'id',
      extendedRequestId: 'extended-request',
      httpMethod: method,
      identity: { ...none, sourceIp, userAgent: 'test' },
      path: `/gateway${path}`,
      protocol: 'HTTP/1.1',
      requestId: 'aws-request',
      requestTime: '01/Nov/2026:00:00:00 +0000',
      requestTimeEpoch: Date.UTC(2026, 10, 1),
      resourceId: 'resource',
      resourcePath: '/{proxy+}',
      stage: 'gateway',
    },
    body: body === undefined ? null : Buffer.from(body).toString(base64 ? 'base64' : 'utf8'),
    isBase64Encoded: base64,
  };
};

/** Event as Lambda passes it: JSON, whatever the handler's type is. */
export const asCalled = (event: APIGatewayProxyEvent): APIGatewayProxyEventV2 => JSON.parse(JSON.stringify(event));
