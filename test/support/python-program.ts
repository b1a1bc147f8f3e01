import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';

/**
 * Returns the path of a program that a Python package installs: beside the interpreter that `PYTHON` names, or on the
 * PATH. Undefined if it cannot be started.
 */
export const pythonProgram = (name: string): string | undefined => {
  const { PYTHON = '' } = process.env;
  const candidates = [...(PYTHON.includes('/') ? [join(dirname(PYTHON), name)] : []), name];
  return candidates.find((path) => spawnSync(path, ['--help']).status === 0);
};
