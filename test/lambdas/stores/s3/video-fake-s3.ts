import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { S3Client } from '@aws-sdk/client-s3';
import {
  createS3Access,
  localS3Credentials,
  patient,
  type S3Timeouts,
} from '../../../../lambdas/functions/wiring/clients.ts';
import { createVideoFiles } from '../../../../lambdas/stores/s3/video-files.ts';

export type Operation = 'create' | 'part' | 'complete' | 'abort' | 'put' | 'get' | 'delete';

export interface Asked {
  readonly operation: Operation;
  readonly headers: IncomingMessage['headers'];
  /** Undefined for the bytes of a file. */
  readonly body: string | undefined;
}

/** Returns true if it has sent the response instead of the fake server. May wait. */
type Trouble = (operation: Operation, response: ServerResponse) => boolean | Promise<boolean>;

const operationOf = ({ method, url = '' }: IncomingMessage): Operation => {
  if (method === 'GET') return 'get';
  const upload = /[?&]uploadId=/.test(url);
  if (method === 'DELETE') return upload ? 'abort' : 'delete';
  if (method === 'PUT') return upload ? 'part' : 'put';
  return upload ? 'complete' : 'create';
};

const answers: Readonly<Record<Operation, (response: ServerResponse) => void>> = {
  create: (response) =>
    response.end('<InitiateMultipartUploadResult><UploadId>upload-1</UploadId></InitiateMultipartUploadResult>'),
  part: (response) => response.writeHead(200, { etag: '"part"', 'x-amz-checksum-crc32': 'AAAAAA==' }).end(),
  complete: (response) => response.end('<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>'),
  abort: (response) => response.writeHead(204).end(),
  put: (response) => response.writeHead(200, { etag: '"whole"' }).end(),
  get: (response) => response.writeHead(200, { 'content-length': '5' }).end('bytes'),
  delete: (response) => response.writeHead(204).end(),
};

/**
 * Starts an S3 server that stores nothing, records its requests and has the given faults. `filesAsAws` connects with
 * the SDK's defaults for AWS.
 */
export const startFakeS3 = async (trouble: Trouble = () => false, patience: S3Timeouts = patient) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    // Without a Date header the client cannot conclude that the clock of a test is wrong and repeat the call.
    response.sendDate = false;
    const operation = operationOf(request);
    const isFile = operation === 'part' || operation === 'put';
    if (isFile) for await (const _ of request);
    const body = isFile ? undefined : await text(request);
    asked.push({ operation, headers: request.headers, body });
    if (!(await trouble(operation, response))) answers[operation](response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const options = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' };
  const access = createS3Access(options, patience);
  const asAws = new S3Client({ ...options, credentials: localS3Credentials, forcePathStyle: true });
  return {
    files: createVideoFiles(access, 'media'),
    filesAsAws: createVideoFiles(async () => asAws, 'media'),
    asked,
    operations: () => asked.map(({ operation }) => operation),
    stop: async () => {
      for (const client of [await access(), asAws]) client.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
};
