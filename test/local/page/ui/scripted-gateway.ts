import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Mode } from '../../../../local/page/ui/modes.ts';
import type { Reading } from '../../../../local/page/ui/reading.ts';
import { runRequest } from '../../../../local/page/ui/run-request.ts';

export type Answer = (response: ServerResponse) => void;

/** Serves the responses in order per path, and repeats the last one. Returns the origin and the requests. */
async function serve(answers: Readonly<Record<string, readonly Answer[]>>) {
  const asked: string[] = [];
  const server = createServer(({ method, url = '', headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization}`);
    const of = answers[url] ?? [];
    const count = asked.filter((line) => line.startsWith(`${method} ${url} `)).length;
    of[Math.min(count, of.length) - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
}

export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'x-request-id': 'R1', ...headers }).end(JSON.stringify(body));

export const events =
  (...data: readonly unknown[]): Answer =>
  (response) => {
    response.writeHead(200, { 'x-request-id': 'R1', 'content-type': 'text/event-stream' });
    const text = data.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('');
    // Cuts within events, so that the page must join them.
    for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) response.write(piece);
    response.end();
  };

export const receipt = json(200, { cost_usd: '0.25' });

/** Runs one request of the playground against the served responses. */
export async function run(
  mode: Mode,
  path: string,
  answers: Parameters<typeof serve>[0],
  signal = new AbortController().signal,
) {
  const served = await serve(answers);
  let reading: Reading = { state: 'waiting', text: '' };
  const states: string[] = [];
  const onChange = (change: Partial<Reading>): void => {
    reading = { ...reading, ...change };
    states.push(reading.state);
  };
  await runRequest({ mode, request: { path, body: {} }, key: 'K', signal, onChange, origin: served.origin });
  served.close();
  return { reading, states, asked: served.asked };
}
