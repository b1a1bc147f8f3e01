import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import * as z from 'zod';
import type { TokenUsage } from '../../../lambdas/core/pricing/charge.ts';
import { usageIn, type Wire } from '../../support/protocol-usage.ts';

/** A provider's response as sent on the wire. */
export interface VendorAnswer {
  readonly wire: Wire;
  readonly usage: TokenUsage;
}

export interface Tap {
  /** Provider URL for the gateway, without a path. */
  readonly url: string;
  /** Returns the complete responses since the last call, oldest first. */
  take(): Promise<readonly VendorAnswer[]>;
  stop(): Promise<void>;
}

/**
 * Starts a proxy between the gateway and the simulated providers. It forwards everything unchanged and reads the
 * reported usage.
 */
export const startTap = async (vendorUrl: string): Promise<Tap> => {
  let answers: Promise<VendorAnswer>[] = [];
  const server = createServer((request, response) => {
    const answer = relay(vendorUrl, request, response).then((text) => readAnswer(request.url ?? '', text));
    // `take` reports a failure.
    answer.catch(() => undefined);
    answers.push(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server without a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    take: () => {
      const taken = Promise.all(answers);
      answers = [];
      return taken;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Forwards a request. Resolves with the complete text of the response, even if the gateway stops reading. */
const relay = (vendorUrl: string, request: IncomingMessage, response: ServerResponse): Promise<string> =>
  new Promise((resolve, reject) => {
    const { method, headers } = request;
    const onward = send(new URL(request.url ?? '/', vendorUrl), { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('data', (part: Buffer) => {
        parts.push(part);
        if (!response.destroyed) response.write(part);
      });
      answer.once('end', () => {
        response.end();
        resolve(Buffer.concat(parts).toString('utf8'));
      });
      answer.once('error', reject);
    });
    onward.once('error', reject);
    request.pipe(onward);
  });

const json = z.record(z.string(), z.unknown());
type Json = z.infer<typeof json>;

interface Reader {
  readonly wire: Wire;
  readonly path: RegExp;
  /** Returns the usage in a plain response or in one event. */
  readonly reported: (body: Json) => unknown;
}

const readers: readonly Reader[] = [
  { wire: 'chat', path: /\/v1\/chat\/completions$/, reported: ({ usage }) => usage },
  { wire: 'responses', path: /\/v1\/responses$/, reported: (body) => body.usage ?? memberOf(body.response) },
  { wire: 'messages', path: /\/v1\/messages$/, reported: (body) => body.usage ?? memberOf(body.message) },
  { wire: 'generateContent', path: /:(g|streamG)enerateContent(\?|$)/, reported: (body) => body.usageMetadata },
];

const memberOf = (value: unknown): unknown => json.safeParse(value).data?.usage;

const readAnswer = (path: string, text: string): VendorAnswer => {
  const reader = readers.find((candidate) => candidate.path.test(path));
  if (!reader) throw new Error(`not a model response: ${path}`);
  const bodies = text.startsWith('{')
    ? [text]
    : [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, data = '']) => data);
  let last: Json = {};
  for (const body of bodies) last = { ...last, ...told(reader.reported(json.parse(JSON.parse(body)))) };
  return { wire: reader.wire, usage: usageIn[reader.wire](last) };
};

/** A later report of a stream replaces earlier ones, except for members that it omits. */
const told = (reported: unknown): Json =>
  Object.fromEntries(Object.entries(json.safeParse(reported).data ?? {}).filter(([, value]) => value !== null));
