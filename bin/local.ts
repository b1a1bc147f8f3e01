import { parseArgs } from 'node:util';
import { SettingsError } from '../lambdas/settings.ts';
import { type StoreName, startLocalGateway } from '../local/gateway.ts';
import { type LocalSettings, readLocalSettings } from '../local/local-settings.ts';
import { inBatches } from '../local/output.ts';
import { toWelcome } from '../local/welcome.ts';

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE') {
    return 'The port is in use. Set PORT to another one, such as PORT=8788, or stop the program that uses it.';
  }
  return error.message;
};

const fail = (error: unknown): never => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(error instanceof SettingsError ? 2 : 1);
};

const PARENT_CHECK_MS = 500;

/** npm does not pass on every signal. Under `npm start` this program ends with npm, so that the port is free again. */
const endWithParent = (stop: () => void): void => {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_CHECK_MS);
};

/** Throws a SettingsError. */
const readArguments = () => {
  try {
    return parseArgs({ options: { reset: { type: 'boolean', default: false }, store: { type: 'string' } } }).values;
  } catch (error) {
    throw new SettingsError(`${explain(error)}\nThe options are --reset and --store embedded|dynamodb.`);
  }
};

/** An endpoint of an emulator, or of AWS, means the deployed adapters. */
const readStore = (option: string | undefined, { MODE, DYNAMODB_ENDPOINT, S3_ENDPOINT }: LocalSettings): StoreName => {
  const store = option ?? (DYNAMODB_ENDPOINT || S3_ENDPOINT ? 'dynamodb' : 'embedded');
  if (store !== 'embedded' && store !== 'dynamodb') {
    throw new SettingsError(`--store ${store}: must be embedded or dynamodb.`);
  }
  if (store === 'dynamodb' && MODE === 'production') {
    throw new SettingsError('--store dynamodb: is only for development. Remove it, DYNAMODB_ENDPOINT and S3_ENDPOINT.');
  }
  return store;
};

const refuseReset = ({ MODE, DATA_DIR }: LocalSettings): void => {
  if (MODE === 'development') return;
  throw new SettingsError(
    `--reset: is only for development. To remove every account and its money, delete ${DATA_DIR}.`,
  );
};

try {
  const { reset, store } = readArguments();
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
  // A reader of this line may send a signal at once.
  process.stdout.write(toWelcome(gateway.welcome));
} catch (error) {
  fail(error);
}
