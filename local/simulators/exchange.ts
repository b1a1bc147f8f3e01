import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliver, untilAborted } from './deliver.ts';
import { openaiError } from './openai/error.ts';
import type { Scenario } from './scenario.ts';
import { VendorRefusal, type Wire } from './wire.ts';

export type RecordedRequest = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. Undefined if the body is not JSON. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
  /** `cut`: the simulator broke the response; `refused`: an error status. */
  readonly outcome: 'open' | 'answered' | 'refused' | 'cut' | 'client-left';
  /** Stream events that the socket has accepted. */
  readonly eventsSent: number;
};

/** One request and its socket. Only this module writes the record's outcome and count. */
export type Exchange = {
  readonly record: { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };
  readonly response: ServerResponse;
  /** Aborted when the response has ended or the client has left. */
  readonly signal: AbortSignal;
};

export async function readExchange(request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const bytes = await readBytes(request);
  const { method = 'GET', url = '/', headers } = request;
  const [path = '/'] = url.split('?', 1);
  const query = new URLSearchParams(url.slice(path.length));
  const body = parseJson(bytes);
  const record = { method, path, query, headers, body, bytes, outcome: 'open' as const, eventsSent: 0 };
  return { record, response, signal: gone.signal };
}

/** Responds as the scenario defines, after `ready`, and records how it ended. */
export async function playExchange(
  exchange: Exchange,
  wire: Wire | undefined,
  scenario: Scenario,
  ready: Promise<unknown>,
): Promise<void> {
  const { record, response, signal } = exchange;
  const headers = wire?.headers(`req_${crypto.randomUUID().replaceAll('-', '')}`) ?? {};
  try {
    if (wire === undefined) throw openaiError(404, `Invalid URL (${record.method} ${record.path})`);
    await Promise.race([ready, untilAborted(signal)]);
    record.outcome = await act(exchange, wire, scenario, headers);
  } catch (error) {
    // A failed write may be reported before the end of the socket.
    const left = signal.aborted || response.socket?.destroyed === true;
    record.outcome = left ? 'client-left' : 'refused';
    if (!left) refuse(error, response, headers);
  }
}

async function act(
  { record, response, signal }: Exchange,
  wire: Wire,
  scenario: Scenario,
  headers: Readonly<Record<string, string>>,
): Promise<'answered' | 'cut'> {
  if (scenario.reset) {
    response.destroy();
    return 'cut';
  }
  if (scenario.delayMs) await sleep(scenario.delayMs, undefined, { signal });
  if (scenario.hang) await untilAborted(signal);
  if (!wire.isAuthorized(record.headers, record.query)) throw wire.refuse({ kind: 'unauthorized' }, record);
  if (scenario.refusal !== undefined) throw wire.refuse(scenario.refusal, record);
  if (scenario.redirect) {
    response.writeHead(307, { ...headers, location: `/redirected${record.path}` }).end();
    return 'answered';
  }
  if (scenario.garbage) {
    response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end('<html><body>upstream</body></html>');
    return 'answered';
  }
  const onEvent = () => {
    record.eventsSent += 1;
  };
  const errorFrame = (eventsSent: number) => wire.errorFrame(record, eventsSent);
  return deliver(wire.answer(record, scenario), { response, headers, scenario, signal, onEvent, errorFrame });
}

/**
 * Sends a refusal, or a 500 that names a bug of the simulator. After the status line was sent, it can only destroy the
 * socket.
 */
function refuse(error: unknown, response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refusal = error instanceof VendorRefusal ? error : openaiError(500, `The simulator itself failed: ${error}`);
  response.writeHead(refusal.status, { 'content-type': 'application/json', ...headers, ...refusal.headers });
  response.end(typeof refusal.body === 'string' ? refusal.body : JSON.stringify(refusal.body));
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
