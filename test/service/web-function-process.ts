import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DockerImage } from 'aws-cdk-lib';
import { ledgerDependenciesFromEnvironment } from '../../lambdas/functions/wiring/ledger.ts';
import { createSweepHandler } from '../../lambdas/functions/wiring/sweep-handler.ts';
import { bundling } from '../../lib/constructs/bundled-code.ts';
import { functions } from '../../lib/functions.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { openDataFolder } from '../../local/data-folder.ts';
import { startDynamodb } from '../../local/emulators/dynamodb.ts';
import { localMediaBucket, startS3 } from '../../local/emulators/s3.ts';
import { freePort } from '../../local/free-port.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { openDynamodbAccount } from '../support/dynamodb-account.ts';
import { type Environment, until, within } from '../support/gateway-process.ts';
import { peakBytes } from '../support/hostile-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { environmentFor, newFolder } from '../support/program.ts';
import { openIssuer } from './hostile-issuer.ts';

/** Bundles the function for AWS into this folder, in which no packages resolve. */
export function bundleInference(folder: string): string {
  // The bundler writes its report into the parent folder.
  const output = join(folder, 'bundle', 'inference');
  mkdirSync(output, { recursive: true });
  const bundled = bundling('inference', functions.inference).bundling?.local?.tryBundle(output, {
    image: DockerImage.fromRegistry('unused'),
  });
  if (!bundled) throw new Error('nothing was bundled');
  return join(output, 'index.mjs');
}

export type WebFunctionProcess = Awaited<ReturnType<typeof startWebFunctionProcess>>;

/** Starts the Web Function `inference` as a process, with its stores, a simulated provider and one account. */
export async function startWebFunctionProcess(own: Environment = {}) {
  const path = newFolder();
  const folder = openDataFolder(path);
  const database = await startDynamodb({
    folder,
    onExit: (message) => {
      throw new Error(message);
    },
  });
  const bucket = await startS3(folder);
  const vendor = await startSimulator({ recordedMax: 0 });
  const account = await openDynamodbAccount(database.endpoint, folder, '1000');
  const issuer = openIssuer(database.endpoint, path);
  const port = await freePort();
  const { DATA_DIR: _unused, ...vendors } = environmentFor(path, vendor.url);
  const environment = {
    ...vendors,
    ...unlimited,
    AWS_REGION: 'us-east-1',
    AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${port}`,
    DYNAMODB_ENDPOINT: database.endpoint,
    S3_ENDPOINT: bucket.endpoint,
    ACCOUNTS_TABLE: localTableNames.accounts,
    KEYS_TABLE: localTableNames.keys,
    COUNTERS_TABLE: localTableNames.counters,
    IDEMPOTENCY_TABLE: localTableNames.idempotency,
    VIDEOS_TABLE: localTableNames.videos,
    MEDIA_BUCKET: localMediaBucket,
    MEDIA_URL: 'https://media.example',
    KEY_PEPPER: account.pepper,
    ...own,
  };
  const child = spawn(process.execPath, [bundleInference(path)], { cwd: path, env: environment, stdio: 'pipe' });
  const { pid } = child;
  if (pid === undefined) throw new Error('the Web Function could not be started');
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (more: string) => (output.stdout += more));
  child.stderr.setEncoding('utf8').on('data', (more: string) => (output.stderr += more));
  const end = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = `http://127.0.0.1:${port}`;
  const deps = ledgerDependenciesFromEnvironment({ ...environment, LOG_FORMAT: 'line' });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await end;
    issuer.close();
    await Promise.all([database.stop(), bucket.stop(), vendor.stop()]);
    folder.close();
    rmSync(path, { recursive: true, force: true });
  };
  try {
    await until('the server', async () => {
      if (child.exitCode !== null) throw new Error(`the Web Function ended: ${output.stderr}`);
      return fetch(`${url}/nowhere`).catch(() => undefined);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    port,
    vendor,
    apiKey: account.apiKey,
    /** Opens another account with this balance. Returns its API key. */
    issue: issuer.issue,
    output,
    peakBytes: () => peakBytes(pid),
    /** Sends a signal. Resolves with the exit code of the process. */
    kill: (signal: NodeJS.Signals): Promise<number | null> => {
      child.kill(signal);
      return within('the end of the Web Function', end);
    },
    account: () => deps.ledgerStore.readAccount('local'),
    sweep: createSweepHandler(deps),
    stop,
  };
}
