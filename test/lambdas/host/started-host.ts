import type { Writable } from 'node:stream';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { installLambdaRuntime, type StreamingHandler } from '../../../lambdas/host/lambda-runtime.ts';
import { type Host, type HostOptions, startHost } from '../../../lambdas/host/server.ts';

installLambdaRuntime();

type Handle = (event: APIGatewayProxyEventV2, stream: Writable) => Promise<void>;

/** Host with one handler for every function. */
export const startHostWith = async (handle: Handle, options: Partial<HostOptions> = {}) => {
  const crashes: unknown[] = [];
  const handler: StreamingHandler = handle;
  const host: Host = await startHost({
    handlers: { text: handler, videos: handler, content: handler, catalog: handler, account: handler },
    port: 0,
    address: '127.0.0.1',
    now: () => Date.UTC(2026, 10, 1),
    newRequestId: () => 'OURS',
    onCrash: (error) => crashes.push(error),
    ...options,
  });
  return { url: `http://127.0.0.1:${host.port}`, port: host.port, crashes, stop: () => host.stop(0) };
};

/** Ends a response as a handler does: the first write sends its head. */
export const answerWith = (
  stream: Writable,
  statusCode: number,
  body: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> =>
  new Promise((resolve) => {
    const { HttpResponseStream } = awslambda;
    const answer = HttpResponseStream.from(stream, { statusCode, headers: { 'content-type': 'text/plain', ...more } });
    answer.write('');
    answer.write(body);
    answer.end(() => resolve());
  });
