import { startLocalGateway } from '../lib/local/local-gateway.ts';
import { readLocalSettings } from '../lib/local/local-settings.ts';
import { toWelcome } from '../lib/local/welcome.ts';

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

const unknown = process.argv.slice(2).find((argument) => argument !== '--reset');
if (unknown) fail(new Error(`${unknown}: unknown argument. The only one is --reset.`));

try {
  const gateway = await startLocalGateway({
    settings: readLocalSettings(process.env),
    reset: process.argv.includes('--reset'),
    onFailure: (message) => process.stderr.write(`${message}\n`),
  });
  process.stdout.write(toWelcome(gateway.welcome));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      gateway.stop().then(() => process.exit(0), fail);
    });
  }
} catch (error) {
  fail(error);
}
