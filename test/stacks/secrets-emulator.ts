import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

/** Starts an emulator of Secrets Manager that can only return the value of a secret. */
export const startSecrets = async (values: Readonly<Record<string, string>>) => {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { SecretId } = z.object({ SecretId: z.string() }).parse(JSON.parse(await text(request)));
    asked.push(SecretId);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify({ SecretString: values[SecretId] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { asked, endpoint: `http://127.0.0.1:${address.port}`, stop: () => server.close() };
};
