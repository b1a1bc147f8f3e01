import { parseArgs } from 'node:util';
import { SettingsError } from '../lambdas/settings.ts';

const options = {
  reset: { type: 'boolean', default: false },
  store: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Output of `npm start -- --help`. */
export const HELP = `Starts the gateway on this machine.

Usage: npm start -- [options]

Options:
  --reset         removes all accounts, money and files of the data folder first (development only)
  --store <name>  embedded (default): SQLite and files. dynamodb: emulators of AWS (development only)
  -h, --help      prints this help

Environment variables are the other settings. These are the most common ones:
  MODE            development (default) or production
  PORT            port, 8787 by default. 0 takes a free port
  DATA_DIR        data folder, .local by default
  OPENAI_API_KEY  key of the real provider. Without it, development simulates the provider

docs/operations/local-settings.md lists every variable, docs/operations/self-hosting.md those of production.
Other commands: npm run cli -- --help, and npm run backup -- <folder>
`;

/** Parses the options of `npm start`. Throws a SettingsError for an unknown one. */
export const readArguments = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`${problem}\nUse --reset, --store embedded|dynamodb or --help.`);
  }
};
