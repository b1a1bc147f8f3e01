import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { failed, whyOf } from '../exit.ts';

/** A program and its first arguments. */
export type Cdk = readonly string[];

const root = join(import.meta.dirname, '../..');

/** Answers its exit code. It has this terminal, where it asks before it widens permissions. */
export const runCdk = async ([program = '', ...first]: Cdk, args: readonly string[]): Promise<number> => {
  const child = spawn(program, [...first, ...args], { cwd: root, stdio: 'inherit' });
  try {
    const [code] = await once(child, 'exit');
    return typeof code === 'number' ? code : 1;
  } catch (error) {
    throw failed(`cdk cannot be started: ${whyOf(error)}. Run npm ci first.`, error);
  }
};
