import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createClients } from '../lambdas/functions/wiring/clients.ts';
import { toAttributes } from '../lambdas/stores/dynamodb/attribute-values.ts';
import { createDynamoDB, type PutRequest, type UpdateRequest } from '../lambdas/stores/dynamodb/dynamodb.ts';
import type { Item } from '../lambdas/stores/dynamodb/item.ts';

/**
 * Measures CPU time of this process per call of a table, whose endpoint is another process. Rounds of the three ways
 * alternate, so that other load on the machine affects all. `npm run bench:dynamodb`
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const WARM_UP = 3;
const CALLS = 400;
const CONCURRENCY = 8;

const accountItem = {
  pk: 'account#01K0000000000000000000BENCH',
  sk: 'account',
  status: 'active',
  available: 9_007_199_254_740_993n,
  credited: 10_000_000_000_000_000n,
  spent: 992_800_745_259_007n,
  version: 41,
  month: '2026-11',
  holds: { h01K0000000000000000000HOLD: new Uint8Array(24), h01K0000000000000000001HOLD: new Uint8Array(24) },
  sweepAt: 1_793_491_200_000,
};

const update: UpdateRequest = {
  table: 'accounts',
  key: { pk: accountItem.pk, sk: accountItem.sk },
  update: 'SET available = available - :amount, holds.#id = :hold, version = version + :one',
  condition:
    '#status = :active AND credited > spent AND available >= :amount AND attribute_not_exists(holds.#id) ' +
    'AND size(holds) < :holdsMax',
  names: { '#id': 'h01K0000000000000000002HOLD', '#status': 'status' },
  values: { ':amount': 1_234_567n, ':hold': new Uint8Array(24), ':one': 1, ':active': 'active', ':holdsMax': 200 },
  returns: 'ALL_NEW',
  onFailure: 'ALL_OLD',
};

const put: PutRequest = {
  table: 'accounts',
  item: {
    pk: accountItem.pk,
    sk: 'CHARGE#01K0000000000000000002HOLD',
    amount: 1_234_567n,
    outcome: 'settled',
    model: 'gpt-4.1-mini',
    usage: { input: 1_200, output: 345, cached: 0 },
    at: 1_793_491_200_000,
    keyId: '0123456789abcdef',
  },
  condition: 'attribute_not_exists(pk)',
  onFailure: 'ALL_OLD',
};

const serve = (): void => {
  const updated = JSON.stringify({ Attributes: toAttributes(accountItem) });
  const server = createServer((request, response) => {
    const isUpdate = `${request.headers['x-amz-target']}`.endsWith('UpdateItem');
    request.resume().on('end', () => {
      const body = isUpdate ? updated : '{}';
      const headers = { 'content-type': 'application/x-amz-json-1.0', 'content-length': body.length };
      response.writeHead(200, headers).end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify(server.address())}\n`));
};

const startEndpoint = async (): Promise<{ readonly child: ChildProcess; readonly endpoint: string }> => {
  const file = fileURLToPath(import.meta.url);
  const pin = spawnSync('taskset', ['--version']).status === 0 ? ['taskset', '-c', '1'] : [];
  const [command = '', ...rest] = [...pin, process.execPath, file, 'endpoint'];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { port }: { readonly port: number } = JSON.parse(String(line));
  return { child, endpoint: `http://127.0.0.1:${port}` };
};

type Call = () => Promise<unknown>;

interface Calls {
  readonly update: Call;
  readonly put: Call;
}

/** Inputs of the SDK accept bytes as base64 too. */
const attributesOf = (item: Item = {}) => JSON.parse(JSON.stringify(toAttributes(item)));

const throughSdk = (client: DynamoDBClient): Calls => {
  const updateInput = {
    TableName: update.table,
    Key: attributesOf(update.key),
    UpdateExpression: update.update,
    ConditionExpression: update.condition,
    ExpressionAttributeNames: { ...update.names },
    ExpressionAttributeValues: attributesOf(update.values),
    ReturnValues: update.returns,
    ReturnValuesOnConditionCheckFailure: update.onFailure,
  };
  const putInput = {
    TableName: put.table,
    Item: attributesOf(put.item),
    ConditionExpression: put.condition,
    ReturnValuesOnConditionCheckFailure: put.onFailure,
  };
  return {
    update: () => client.send(new UpdateItemCommand(updateInput)),
    put: () => client.send(new PutItemCommand(putInput)),
  };
};

const lean = (client: DynamoDBClient): Calls => {
  const { hot } = createDynamoDB(client, Date.now);
  return { update: () => hot.update(update), put: () => hot.put(put) };
};

/** Returns microseconds of CPU time per call. */
const measure = async (call: Call): Promise<number> => {
  const before = process.cpuUsage();
  const work = async (): Promise<void> => {
    for (let calls = CALLS / CONCURRENCY; calls > 0; calls -= 1) await call();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const run = async (endpoint: string): Promise<void> => {
  const plain = new DynamoDBClient({
    maxAttempts: 1,
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
  });
  const { once: configured } = createClients({ endpoint, region: 'us-east-1' });
  const ways = { 'plain SDK': throughSdk(plain), 'configured SDK': throughSdk(configured), lean: lean(configured) };
  const rows = Object.entries(ways).flatMap(([way, calls]) => [
    { name: `update, ${way}`, call: calls.update, times: [] as number[] },
    { name: `put, ${way}`, call: calls.put, times: [] as number[] },
  ]);
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const { call, times } of rows) {
      const time = await measure(call);
      if (round >= WARM_UP) times.push(time);
    }
  }
  for (const [index, { name, times }] of rows.entries()) {
    const plainRow = rows[index % 2];
    const ratio = median(times) / median(plainRow?.times ?? []);
    process.stdout.write(`${name.padEnd(24)} ${median(times).toFixed(0).padStart(5)} us  ${ratio.toFixed(2)}\n`);
  }
};

if (process.argv[2] === 'endpoint') serve();
else {
  const { child, endpoint } = await startEndpoint();
  await run(endpoint);
  child.kill();
}
