import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Package of AWS that runs Node functions. */
const CLIENT = 'aws-lambda-ric';
const VERSION = '4.0.2';
const INSTALL_MS = 10 * 60_000;
/** Build tools that its install script needs. */
const tools = ['cmake', 'make', 'c++'];

/**
 * Returns the path of the client's entry file, or the reason why there is none. Part of it is compiled, which takes
 * about a minute.
 */
export const installRuntimeClient = (folder: string): { readonly entry: string } | { readonly missing: string } => {
  const absent = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  if (absent.length > 0) return { missing: `${absent.join(', ')} cannot be run` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { [CLIENT]: true } }));
  const options = ['--prefix', folder, '--ignore-scripts=false', '--no-audit', '--no-fund', '--no-save'];
  const { status, stderr, error } = spawnSync('npm', ['install', ...options, `${CLIENT}@${VERSION}`], {
    ...{ cwd: folder, env: npmEnvironment(), timeout: INSTALL_MS, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  });
  const entry = join(folder, 'node_modules', CLIENT, 'index.mjs');
  if (status === 0 && existsSync(join(dirname(entry), 'rapid-client.node'))) return { entry };
  const lines = stderr.split('\n').filter((line) => /error/i.test(line));
  return { missing: error?.message ?? lines.at(0) ?? `npm ended with ${status}` };
};

/** Removes npm's settings, which forbid install scripts. Uses the headers of the Node version that loads the client. */
const npmEnvironment = (): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const home = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(home, 'include/node/node_api.h'));
  return { ...Object.fromEntries(own), ...(hasHeaders ? { npm_config_nodedir: home } : {}) };
};
