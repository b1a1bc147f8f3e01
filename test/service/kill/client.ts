import { request as openRequest } from 'node:http';

/** The part of a response that arrived before the server was killed. */
export interface Received {
  /** 0 without a status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Whether the HTTP response is complete. */
  readonly complete: boolean;
}

export interface Posted {
  readonly path: string;
  readonly apiKey: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const LIMIT_MS = 30_000;

/** Sends a request with its own connection and client IP. Never rejects, because the server is expected to die. */
export function postUntilDeath(url: string, localAddress: string, { path, apiKey, body, headers }: Posted) {
  return new Promise<Received>((resolve) => {
    let status = 0;
    let received: Received['headers'] = {};
    const pieces: Buffer[] = [];
    const finish = (complete: boolean) =>
      resolve({ status, headers: received, text: Buffer.concat(pieces).toString(), complete });
    openRequest(
      `${url}${path}`,
      {
        method: 'POST',
        localAddress,
        agent: false,
        signal: AbortSignal.timeout(LIMIT_MS),
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      },
      (response) => {
        status = response.statusCode ?? 0;
        received = response.headers;
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('close', () => finish(response.complete));
        response.on('error', () => undefined);
      },
    )
      .on('error', () => finish(false))
      .end(JSON.stringify(body));
  });
}

/** Whether a client sees a success: a complete response, or a stream up to `[DONE]`. */
export const isGood = ({ status, headers, text, complete }: Received): boolean => {
  if (status !== 200) return false;
  // A client ignores anything after the last event.
  if (String(headers['content-type']).startsWith('text/event-stream')) return text.includes('data: [DONE]');
  return complete;
};
