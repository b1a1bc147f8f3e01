import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { until } from './gateway-process.ts';

const valueSchema = z.object({
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
  doubleValue: z.number().optional(),
});

const attributesSchema = z
  .array(z.object({ key: z.string(), value: valueSchema }))
  .default([])
  .transform((list) =>
    Object.fromEntries(
      list.map(({ key, value }) => {
        const { stringValue, boolValue, intValue, doubleValue } = value;
        return [key, stringValue ?? boolValue ?? doubleValue ?? Number(intValue)];
      }),
    ),
  );

const requestSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
              attributes: attributesSchema,
              status: z.object({ code: z.number().default(0) }),
            }),
          ),
        }),
      ),
    }),
  ),
});

type Parsed = z.output<typeof requestSchema>;

export type ReceivedSpan = Parsed['resourceSpans'][number]['scopeSpans'][number]['spans'][number];

/** Numbers of OTLP's span kinds. */
export const INTERNAL = 1;
export const SERVER = 2;
export const CLIENT = 3;

/** A longer delay means that the collector never responds. */
const LONGEST_TIMER_MS = 60_000;

/** An OTLP collector: an HTTP server that keeps everything it receives. */
export const startCollector = async () => {
  const requests: { readonly path: string; readonly headers: http.IncomingHttpHeaders; readonly body: string }[] = [];
  /** `count` is the number of responses so far. */
  const answer = { status: 200, delayMs: 0, count: 0, onRequest: undefined as (() => void) | undefined };
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    answer.onRequest?.();
    if (answer.delayMs > LONGEST_TIMER_MS) return;
    setTimeout(() => {
      answer.count += 1;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end('{}');
    }, answer.delayMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const resources = () => requests.flatMap(({ body }) => requestSchema.parse(JSON.parse(body)).resourceSpans);
  const spans = (): readonly ReceivedSpan[] =>
    resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer,
    spans,
    resources,
    /** Waits for this number of spans with the name. */
    untilSpans: (name: string, count = 1): Promise<readonly ReceivedSpan[]> =>
      until(`${count} spans ${name}`, async () => {
        const found = spans().filter((span) => span.name === name);
        return found.length >= count ? found : undefined;
      }),
    clear: (): void => {
      requests.length = 0;
      answer.count = 0;
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export type Collector = Awaited<ReturnType<typeof startCollector>>;
