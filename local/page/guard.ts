import type { IncomingMessage } from 'node:http';

/** A request that the page does not take, with a sentence for whoever sent it. */
export class PageRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The page holds a key and moves money, and every site that the developer has open can send requests to this machine: under a name
 * of its own that leads here, from a form, from a script. Throws PageRefusal for whatever the page itself would not send.
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
  // A form can send anything but this.
  if (!/^application\/json *(?:;|$)/i.test(headers['content-type'] ?? ''))
    throw new PageRefusal(415, 'Content-Type: must be application/json.');
}

/** A link to the page, wherever it stands: what opens is the page itself, and whoever linked to it sees nothing of it. */
function isVisit({ headers, method, url }: IncomingMessage): boolean {
  const opens = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return method === 'GET' && opens && url?.split('?', 1)[0] === '/';
}

/** A name that somebody else's server gives this address is none of these. */
export function isOwnHost(host: string, port: number): boolean {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  return names.some((name) => host.toLowerCase() === `${name}:${port}` || (port === 80 && host === name));
}
