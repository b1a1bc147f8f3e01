import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openBucket } from '../../bin/bucket.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { createVideoJobStore } from '../../lambdas/stores/dynamodb/video-job-store.ts';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';
import { startGateway } from '../support/gateway.ts';
import { runHere } from '../support/scripted-terminal.ts';

export type CliScene = Awaited<ReturnType<typeof openCliScene>>;

export const openTables = (endpoint: string) => {
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  return {
    client,
    ledger: createLedgerStore(createDatabases({ once: client, repeating: client }), localTableNames.accounts),
    accounts: createAccountStore(createDynamoDB(client, Date.now), localTableNames),
    keys: createKeyStore(createDatabases({ once: client, repeating: client }), localTableNames),
    videoJobs: createVideoJobStore(createDynamoDB(client, Date.now), localTableNames.videos),
  };
};

/** Starts a gateway that sweeps so rarely that only the command line ends a hold. */
export const openCliScene = async () => {
  const vendor = await startSimulator();
  const database = await startTestDynamodb();
  const { endpoint } = database;
  const gateway = await startGateway({
    stores: 'engine',
    vendorUrl: vendor.url,
    environment: { DYNAMODB_ENDPOINT: endpoint, SWEEP_SECONDS: '3600' },
  });
  const environment = { DYNAMODB_ENDPOINT: endpoint, DATA_DIR: gateway.folder };
  const stores = openTables(endpoint);
  const cli = (...args: readonly string[]) => runHere(args, environment);
  return {
    vendor,
    gateway,
    /** Settings that lead to the gateway's own tables and bucket. */
    environment,
    stores,
    /** Runs the command line in this process. */
    cli,
    /** Runs the command line with `--json`, and parses its output. */
    json: async (...args: readonly string[]) => {
      const { status, stdout, stderr } = await cli(...args, '--json');
      return { status, value: stdout === '' ? undefined : JSON.parse(stdout), stderr };
    },
    /** Returns the status and code of a request with this API key. */
    statusOf: async (apiKey: string): Promise<readonly [status: number, code: string | undefined]> => {
      const response = await fetch(`${gateway.url}/api/account`, { headers: { authorization: `Bearer ${apiKey}` } });
      return [response.status, JSON.parse(await response.text()).error?.code];
    },
    stop: async (): Promise<void> => {
      stores.client.destroy();
      await gateway.stop();
      await database.stop();
      await vendor.stop();
    },
  };
};

/** Opens the bucket of a local gateway without its program. */
export const openLocalBucket = (dataFolder: string) => openBucket({ environment: {}, isLocal: true, dataFolder });
