import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestLine } from './ui/wire.ts';

/** Calls back once a request of the gateway's own is over. The query is left out: a key may stand there. */
export function watchRequest(
  request: IncomingMessage,
  response: ServerResponse,
  publish: (line: RequestLine) => void,
): void {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  if (!/^\/(?:v1|v1beta|bot|app\/api|app\/credits|api|media)(?:\/|$)/.test(path)) return;
  const at = Date.now();
  response.once('close', () => {
    const { method = 'GET' } = request;
    publish({ at, method, path, status: response.statusCode, total_ms: Date.now() - at });
  });
}
