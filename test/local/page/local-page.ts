import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { LocalKeyState } from '../../../local/local-account.ts';
import { openVendors } from '../../../local/local-vendors.ts';
import { createLocalPage, type LocalPage } from '../../../local/page/local-page.ts';
import { createPageMessenger } from '../../../local/page/page-messenger.ts';
import { type LocalMessenger, startMessenger } from '../../../local/simulators/messenger/messenger.ts';

export type TestPage = {
  readonly port: number;
  readonly page: LocalPage;
  readonly messenger: LocalMessenger;
  /** Base URLs and API keys of the simulated providers. */
  readonly environment: NodeJS.ProcessEnv;
  readonly failures: readonly string[];
  stop(): Promise<void>;
};

/** Starts the page on a server. The server responds with 204 to requests that the page does not handle. */
export async function startTestPage(
  environment: NodeJS.ProcessEnv = {},
  keyState: LocalKeyState = { kind: 'current' },
): Promise<TestPage> {
  const failures: string[] = [];
  const vendors = await openVendors(environment);
  const messenger = await startMessenger({ botToken: '12345:test' });
  let page: LocalPage | undefined;
  const server = createServer((incoming, response) => {
    if (!page?.take(incoming, response)) response.writeHead(204).end();
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  page = createLocalPage({
    port,
    url: `http://127.0.0.1:${port}`,
    allowsOtherPorts: false,
    apiKey: 'sk-service-test',
    readKeyState: async () => keyState,
    readAccounts: async () => [],
    topUpKey: 'a key for reporting payments',
    files: async () =>
      ['index.html', 'main.js', 'main.js.gz', 'main.css'].map((file) => ({ file, bytes: Buffer.from(file) })),
    vendors,
    messenger: createPageMessenger(messenger),
    onFailure: (message) => failures.push(message),
  });
  const started = page;
  return {
    port,
    page: started,
    messenger,
    environment: { ...environment, ...vendors.environment },
    failures,
    async stop() {
      started.stop();
      await vendors.stop();
      await messenger.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type RawAsk = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type RawAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

/** Sends exactly these headers. `fetch` would add its own. */
export function ask(port: number, { method = 'GET', path, headers = {}, body }: RawAsk): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      text(answer).then(
        (read) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read }),
        reject,
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

export const postJson = (port: number, path: string, body: unknown): Promise<RawAnswer> =>
  ask(port, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
