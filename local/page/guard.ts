import type { IncomingMessage } from 'node:http';

/** Request that the page rejects, with a sentence for its sender. */
export class PageRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Throws PageRefusal for a request that the page itself would not send. The page shows a key and moves money, and every
 * site that is open in the browser can send requests to this machine: under its own host name, from a form, or from a
 * script.
 */
export function checkSender(request: IncomingMessage, port: number): void {
  const { headers, method } = request;
  const host = headers.host ?? '';
  if (!isOwnHost(host, port)) throw new PageRefusal(403, `Open http://127.0.0.1:${port}/ instead of this address.`);
  const site = headers['sec-fetch-site'] ?? 'same-origin';
  if (site !== 'same-origin' && site !== 'none' && !isVisit(request))
    throw new PageRefusal(403, 'Only the page of this machine may ask.');
  if (method === 'GET' || method === 'HEAD') return;
  if (headers.origin !== undefined && headers.origin !== `http://${host}`)
    throw new PageRefusal(403, 'Origin: only the page of this machine may ask.');
  // An HTML form cannot send this content type.
  if (!/^application\/json *(?:;|$)/i.test(headers['content-type'] ?? ''))
    throw new PageRefusal(415, 'Content-Type: must be application/json.');
}

/**
 * Whether the request opens the page from a link: the browser shows the page, and the linking site sees nothing of it.
 */
function isVisit({ headers, method, url }: IncomingMessage): boolean {
  const opens = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return method === 'GET' && opens && url?.split('?', 1)[0] === '/';
}

/** Whether the host is the local machine, and not another name that points to this address. */
export function isOwnHost(host: string, port: number): boolean {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  return names.some((name) => host.toLowerCase() === `${name}:${port}` || (port === 80 && host === name));
}
