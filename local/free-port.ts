import { createServer } from 'node:net';

/**
 * Returns a port that was free a moment ago. Another program may take it first, so the caller must be ready to ask
 * again.
 */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('The system named no port.'));
      });
    });
  });
}
