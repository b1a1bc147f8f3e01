import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import {
  environmentNames as defaultNames,
  type Environment,
  environmentNameProblem,
  environments,
  parseEnvironment,
} from '../lib/environments.ts';
import { exits, whyOf } from './exit.ts';

/** Name of the file with the environments of its owner. */
export const CONFIG_FILE = 'gateway.config.ts';

/** Variable with the path of the file, if the file is neither in the working directory nor in that of the gateway. */
export const CONFIG_VARIABLE = 'GATEWAY_CONFIG';

/** Environments that the commands accept. */
export interface Config {
  /** Absolute path of the file. Undefined without one. */
  readonly path: string | undefined;
  readonly names: readonly string[];
  /** Returns an environment. Throws an Error with one line per invalid field: the file, the path and the problem. */
  environmentOf(name: string): Environment;
}

const example = 'Write: export default defineConfig({ environments: { dev: defaultEnvironments.dev } })';

const fileSchema = z.object({
  default: z.strictObject(
    {
      environments: z
        .record(z.string(), z.unknown(), { error: `must be an object. ${example}` })
        .refine((all) => Object.keys(all).length > 0, `has no environment. ${example}`),
    },
    { error: ({ code }) => (code === 'unrecognized_keys' ? undefined : `has no config. ${example}`) },
  ),
});

/**
 * Reads a file such as `gateway.config.ts`. Validates each environment on access, so that an error in one does not affect
 * the others. Throws an Error that names the file, the field and the fix.
 */
export const readConfig = (path: string): Config => {
  const { environments: options } = parseFile(path);
  const invalid = Object.keys(options).flatMap((name) => {
    const problem = environmentNameProblem(name);
    return problem === undefined ? [] : [`${path}: environments: the name ${problem}.`];
  });
  if (invalid.length > 0) throw new Error(invalid.join('\n'));
  return {
    path,
    names: Object.keys(options),
    environmentOf: (name) => parseEnvironment(options[name], `${path}: environments.${name}`),
  };
};

const parseFile = (path: string) => {
  const parsed = fileSchema.safeParse(load(path));
  if (parsed.success) return parsed.data.default;
  const lines = parsed.error.issues.map(({ path: [, ...field], message }) =>
    [path, ...(field.length > 0 ? [field.join('.')] : []), `${message}.`].join(': '),
  );
  throw new Error(lines.join('\n'));
};

const load = (path: string): unknown => {
  if (!existsSync(path)) throw new Error(`${path}: does not exist. Correct or remove ${CONFIG_VARIABLE}.`);
  try {
    return createRequire(path)(path);
  } catch (error) {
    throw new Error(`${path}: cannot be loaded (${whyOf(error)}). Correct the file.`);
  }
};

/** Environments of a gateway without a file. */
const withoutFile: Config = {
  path: undefined,
  names: defaultNames,
  environmentOf: (name) => {
    const found = defaultNames.find((each) => each === name);
    if (found === undefined) throw new Error(`${name}: unknown environment. Use one of ${defaultNames.join(', ')}.`);
    return environments[found];
  },
};

/** Returns the file that `GATEWAY_CONFIG` names, else the one in the first of the folders that has one. */
export const findConfig = (named: string | undefined, folders: readonly string[]): string | undefined =>
  named ? resolve(named) : folders.map((folder) => join(folder, CONFIG_FILE)).find((path) => existsSync(path));

/** Ends the process at an invalid file: no command can work without its environments. */
const readOrExit = (): Config => {
  const path = findConfig(process.env[CONFIG_VARIABLE], [process.cwd(), join(import.meta.dirname, '..')]);
  try {
    return path === undefined ? withoutFile : readConfig(path);
  } catch (error) {
    process.stderr.write(`${whyOf(error)}\n`);
    process.exit(exits.misused);
  }
};

/** Environments of this process, for every command with an environment and for the CDK apps. */
export const { path: configPath, names: environmentNames, environmentOf } = readOrExit();
