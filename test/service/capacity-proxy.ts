import { createServer, type IncomingMessage, request as openRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';

/** Request units that a call to the database consumed, including its indexes. */
export interface UnitsTaken {
  readonly table: string;
  readonly kind: 'write' | 'read';
  readonly units: number;
}

export interface CapacityProxy {
  /** Endpoint for the client, instead of the database's. */
  readonly endpoint: string;
  /** Calls since the last `forget`, except those of a stream reader. */
  readonly taken: readonly UnitsTaken[];
  forget(): void;
  stop(): Promise<void>;
}

const consumed = z.object({ TableName: z.string(), CapacityUnits: z.number() });
const reply = z.object({ ConsumedCapacity: z.union([consumed, z.array(consumed)]).optional() });

const reading = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
const writing = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

/** Starts a proxy for a database that requests and records the consumed capacity of every call. */
export async function startCapacityProxy(target: string): Promise<CapacityProxy> {
  const taken: UnitsTaken[] = [];
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const kind = kindOf(operation);
    const sent = await buffer(request);
    const message = await forward(`${target}${request.url}`, request, kind ? asking(sent) : sent);
    const answer = await buffer(message);
    if (kind)
      for (const { TableName, CapacityUnits } of unitsIn(answer))
        taken.push({ table: TableName, kind, units: CapacityUnits });
    response.writeHead(message.statusCode ?? 502, message.headers).end(answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system assigned no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    taken,
    forget() {
      taken.length = 0;
    },
    stop() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const kindOf = (operation: string): UnitsTaken['kind'] | undefined => {
  if (reading.has(operation)) return 'read';
  return writing.has(operation) ? 'write' : undefined;
};

const asking = (body: Buffer): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'TOTAL' }));

const unitsIn = (answer: Buffer) => [reply.parse(JSON.parse(answer.toString())).ConsumedCapacity ?? []].flat();

function forward(url: string, { method, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { 'content-length': _theirs, ...others } = headers;
  return new Promise((resolve, reject) => {
    openRequest(url, { method, headers: { ...others, 'content-length': body.length } }, resolve)
      .on('error', reject)
      .end(body);
  });
}
