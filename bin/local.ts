import { startLocalGateway } from '../local/local-gateway.ts';
import { readLocalSettings } from '../local/local-settings.ts';
import { toWelcome } from '../local/welcome.ts';

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE') {
    return 'The port is in use. Set PORT to another one, such as PORT=8788, or end the program that has it.';
  }
  return error.message;
};

const fail = (error: unknown): never => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
};

const PARENT_CHECK_MS = 500;

/** npm passes not every signal on. Under `npm start` its end is ours, or a second start would find the folder in use. */
const endWithParent = (stop: () => void): void => {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_CHECK_MS);
};

const unknown = process.argv.slice(2).find((argument) => argument !== '--reset');
if (unknown) fail(new Error(`${unknown}: unknown argument. The only one is --reset.`));

try {
  const gateway = await startLocalGateway({
    settings: readLocalSettings(process.env),
    reset: process.argv.includes('--reset'),
    onFailure: (message) => process.stderr.write(`${message}\n`),
  });
  process.stdout.write(toWelcome(gateway.welcome));
  const stop = (): void => {
    gateway.stop().then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  endWithParent(stop);
} catch (error) {
  fail(error);
}
