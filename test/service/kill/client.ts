import { request as openRequest } from 'node:http';

/** As much of an answer as there was before the server died. */
export interface Received {
  /** 0 when not even the status came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** It came to the end that HTTP gives it. */
  readonly complete: boolean;
}

export interface Posted {
  readonly path: string;
  readonly apiKey: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const LIMIT_MS = 30_000;

/** Never rejects: a server that dies is what it is for. A connection and an address of its own for each request. */
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

/** A client's own view of success: the whole of a good answer, a stream up to `[DONE]`. */
export const isGood = ({ status, headers, text, complete }: Received): boolean => {
  if (status !== 200) return false;
  // What a client reads after the last event adds nothing to it.
  if (String(headers['content-type']).startsWith('text/event-stream')) return text.includes('data: [DONE]');
  return complete;
};
