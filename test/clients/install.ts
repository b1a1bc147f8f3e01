import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { Install } from './client.ts';
import { runCommand } from './run-command.ts';

/** Reports that a group of pins cannot be installed on this machine. Its clients are skipped. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

const INSTALL_LIMIT_MS = 240_000;
const hashLength = 16;

/** Folder that keeps the installed clients between runs. */
export const cacheFolder = (environment: NodeJS.ProcessEnv): string =>
  environment.CLIENTS_CACHE_DIR ||
  join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'model-gateway-clients');

/** Files with the pins of a group. */
export const pinFiles = (install: Install): readonly string[] => {
  if (install.kind === 'venv') return [join(import.meta.dirname, 'py', `${install.requirements}.txt`)];
  const names = install.kind === 'npm' ? ['package.json', 'package-lock.json'] : ['pom.xml', 'jars.sha256'];
  return names.map((name) => join(import.meta.dirname, install.folder, name));
};

/**
 * Installs the pins of a group, unless they are already installed from the same files. Returns the folder. Throws an
 * InstallError.
 */
export const installPins = async (install: Install, cache: string): Promise<string> => {
  // A JDK is not a part of the installation, and can be missing later.
  if (install.kind === 'maven') await run(['javac', '-version'], import.meta.dirname, INSTALL_LIMIT_MS);
  const name = install.kind === 'venv' ? install.requirements : install.folder;
  return installFiles({ kind: install.kind, name, files: pinFiles(install), limitMs: INSTALL_LIMIT_MS }, cache);
};

export interface Pins {
  readonly kind: Install['kind'];
  readonly name: string;
  /** `package.json` or `pom.xml`, with its lock file if there is one, or a file of requirements. */
  readonly files: readonly string[];
  /** Limit of each command of the installation. */
  readonly limitMs: number;
}

/** Installs pins as `installPins` does. */
export const installFiles = async ({ kind, name, files, limitMs }: Pins, cache: string): Promise<string> => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(file));
  const folder = join(cache, `${name}-${hash.digest('hex').slice(0, hashLength)}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true });
    for (const file of files) await copyFile(file, join(draft, basename(file)));
    for (const command of commandsOf(kind, files)) await run(command, draft, limitMs);
    // A concurrent run may already have created the folder.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } catch (error) {
    throw error instanceof InstallError ? error : new InstallError(error instanceof Error ? error.message : `${error}`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const commandsOf = (kind: Install['kind'], [file = '']: readonly string[]): readonly (readonly string[])[] =>
  ({
    // Not `npm ci`: a lock file lacks optional packages for other platforms if its registry lacked them.
    npm: [['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']],
    venv: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/python', '-m', 'pip', 'install', '--no-input', '--quiet', '-r', basename(file)],
    ],
    maven: [
      ['mvn', '--batch-mode', '--quiet', '--strict-checksums', 'dependency:copy-dependencies', '-DoutputDirectory=lib'],
      ['sha256sum', '--check', '--strict', '--quiet', 'jars.sha256'],
    ],
  })[kind];

const run = async (command: readonly string[], cwd: string, limitMs: number): Promise<void> => {
  const env = { ...outerEnvironment(), PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  const { code, stderr } = await runCommand(command, { cwd, env, limitMs });
  if (code === 0) return;
  const lines = stderr.trim().split('\n');
  const line = lines.find((text) => /error/i.test(text)) ?? lines.at(-1);
  throw new InstallError(`${command.slice(0, 4).join(' ')}: ${line}`);
};

/** The environment without what `npm run` adds for this repository. */
const outerEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package|config_local_prefix)/.test(name)),
  );
