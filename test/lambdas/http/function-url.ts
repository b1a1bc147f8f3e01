import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import {
  createResponseStream,
  installLambdaRuntime,
  type Prelude,
  type Receiver,
  streaming,
} from '../../../lambdas/host/lambda-runtime.ts';

installLambdaRuntime();

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly base64?: boolean;
  readonly sourceIp?: string;
}

/** Event of a function URL: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
export const functionUrlEvent = (sent: Sent = {}): APIGatewayProxyEventV2 => {
  const { method = 'GET', path = '/', headers = {}, body, base64 = false, sourceIp = '203.0.113.7' } = sent;
  const text = typeof body === 'string' ? body : Buffer.from(body ?? []).toString(base64 ? 'base64' : 'utf8');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { host: 'id.lambda-url.eu-west-1.on.aws', ...headers },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'id',
      domainName: 'id.lambda-url.eu-west-1.on.aws',
      domainPrefix: 'id',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: 'test' },
      requestId: 'aws-request',
      routeKey: '$default',
      stage: '$default',
      time: '01/Nov/2026:00:00:00 +0000',
      timeEpoch: Date.UTC(2026, 10, 1),
    },
    ...(body === undefined
      ? {}
      : { body: base64 && typeof body === 'string' ? Buffer.from(body).toString('base64') : text }),
    isBase64Encoded: base64,
  };
};

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly bytes: Buffer;
}

/** Calls a handler as Lambda does. Returns the response when the handler is done. */
export const invoke = async (
  handler: unknown,
  event: APIGatewayProxyEventV2,
  context: Record<string, unknown> = { getRemainingTimeInMillis: () => 900_000 },
): Promise<Answer> => {
  let head: Prelude | undefined;
  const pieces: Buffer[] = [];
  const receiver: Receiver = {
    head: (prelude) => {
      head = prelude;
    },
    write: (data, done) => {
      pieces.push(Buffer.from(data));
      done();
    },
    end: (done) => done(),
  };
  await streaming(handler)(event, createResponseStream(receiver), context);
  if (!head) throw new Error('a handler that answered nothing');
  const bytes = Buffer.concat(pieces);
  return { status: head.statusCode, headers: head.headers ?? {}, text: bytes.toString(), bytes };
};
