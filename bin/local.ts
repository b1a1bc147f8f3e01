import { SettingsError } from '../lambdas/settings.ts';
import { isPortTaken, type StoreName, startLocalGateway } from '../local/gateway.ts';
import { type LocalSettings, readLocalSettings } from '../local/local-settings.ts';
import { inBatches } from '../local/output.ts';
import { toWelcome } from '../local/welcome.ts';
import { HELP, readArguments } from './start-arguments.ts';

const explain = (error: unknown): string => {
  if (isPortTaken(error)) {
    return 'PORT: the port is in use. Set another port, such as PORT=8788, or stop the program that uses it.';
  }
  return error instanceof Error ? error.message : String(error);
};

const fail = (error: unknown): never => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(error instanceof SettingsError ? 2 : 1);
};

const PARENT_CHECK_MS = 500;

/** npm does not forward every signal. Under `npm start`, stop when npm ends, so that the port becomes free. */
const endWithParent = (stop: () => void): void => {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_CHECK_MS);
};

/** Selects the stores. The endpoint of an emulator or of AWS selects the deployed adapters. */
const readStore = (option: string | undefined, { MODE, DYNAMODB_ENDPOINT, S3_ENDPOINT }: LocalSettings): StoreName => {
  const store = option ?? (DYNAMODB_ENDPOINT || S3_ENDPOINT ? 'dynamodb' : 'embedded');
  if (store !== 'embedded' && store !== 'dynamodb') {
    throw new SettingsError(`--store ${store}: must be embedded or dynamodb.`);
  }
  if (store === 'dynamodb' && MODE === 'production') {
    throw new SettingsError(
      '--store dynamodb: allowed in development only. Remove it, DYNAMODB_ENDPOINT and S3_ENDPOINT.',
    );
  }
  return store;
};

const refuseReset = ({ MODE, DATA_DIR }: LocalSettings): void => {
  if (MODE === 'development') return;
  throw new SettingsError(
    `--reset: allowed in development only. To remove every account and its money, delete ${DATA_DIR}.`,
  );
};

try {
  const { reset, store, help } = readArguments(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    process.exit(0);
  }
  const settings = readLocalSettings(process.env);
  if (reset) refuseReset(settings);
  const gateway = await startLocalGateway({
    settings,
    environment: process.env,
    store: readStore(store, settings),
    reset,
    output: { stdout: inBatches(process.stdout), stderr: process.stderr },
  });
  const stop = (): void => {
    gateway.stop().then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  endWithParent(stop);
  // Print the welcome last: a reader of this line may send a signal immediately.
  process.stdout.write(toWelcome(gateway.welcome));
} catch (error) {
  fail(error);
}
