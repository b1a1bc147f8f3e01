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

/** True when it has answered in the place of the fake. May wait. */
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
 * An S3 that keeps nothing, knows of aborted uploads, and has the trouble it is told to have. `asAws` talks to it the way the SDK
 * talks to AWS by default.
 */
export const startFakeS3 = async (trouble: Trouble = () => false, patience: S3Timeouts = patient) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    // Without a date the client cannot take a test's own clock for a wrong one, and repeat the call.
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
