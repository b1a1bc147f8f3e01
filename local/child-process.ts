import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { commandLine, stopByPid } from './process-identity.ts';

export type ChildOptions = {
  readonly command: string;
  readonly args: readonly string[];
  /** Folder that belongs to this child alone. It stores the pid, so that the next start can stop an orphan. */
  readonly room: string;
  /**
   * Path of a file in the room. It is an argument of the child and identifies it among processes of the same program.
   */
  readonly ownFile: string;
  /** Called once if the child ends without a stop. */
  readonly onExit: (message: string) => void;
};

export type Child = {
  readonly pid: number;
  /** Reason why the process has ended; undefined while it runs. */
  exitMessage(): string | undefined;
  /** Sends SIGTERM, then SIGKILL. Resolves when the process has ended. Can be called again. */
  stop(): Promise<void>;
};

const noteSchema = z.object({ pid: z.int().positive(), program: z.string(), ownFile: z.string() });
const noteName = 'child.json';
const lastWordsMax = 2_000;
const graceMs = 3_000;

/** A child outlives a parent that is killed, so an earlier child of the same folder is stopped first. */
export async function startChild(options: ChildOptions): Promise<Child> {
  await stopOrphan(options.room);
  // The child has its own process group: Ctrl-C reaches only the host, which still needs its database while it stops.
  const child = spawn(options.command, options.args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const { pid } = child;
  if (pid === undefined) throw await spawnError(child, options.command);
  const note = { pid, program: basename(options.command), ownFile: options.ownFile };
  writeFileSync(join(options.room, noteName), JSON.stringify(note), { mode: 0o600 });

  const endWithParent = () => child.kill('SIGTERM');
  process.once('exit', endWithParent);
  let stopping = false;
  let exitMessage: string | undefined;
  let lastWords = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-lastWordsMax);
  });
  const gone = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      process.removeListener('exit', endWithParent);
      rmSync(join(options.room, noteName), { force: true });
      exitMessage = `${note.program} ended (${signal ?? `exit code ${code}`}): ${lastWords.trim()}`;
      resolve();
      if (!stopping) options.onExit(exitMessage);
    });
  });
  return {
    pid,
    exitMessage: () => exitMessage,
    stop() {
      stopping = true;
      return end(child, gone);
    },
  };
}

/**
 * Stops the process that an earlier run left behind, if the stored pid still belongs to the same program on the same
 * file.
 */
export async function stopOrphan(room: string): Promise<void> {
  const found = runningChild(room);
  if (found) await stopByPid(found.pid, () => runningChild(room) !== undefined, graceMs);
  rmSync(join(room, noteName), { force: true });
}

/**
 * Returns the pid and the arguments of the child that runs in this folder, whichever process started it; undefined if
 * none runs.
 */
export function runningChild(room: string): { readonly pid: number; readonly args: readonly string[] } | undefined {
  const note = noteSchema.safeParse(readJson(join(room, noteName)));
  if (!note.success) return undefined;
  const { pid, program, ownFile } = note.data;
  const [command = '', ...args] = commandLine(pid);
  return basename(command) === program && args.includes(ownFile) ? { pid, args } : undefined;
}

async function end(child: ChildProcess, gone: Promise<void>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(timer);
}

function spawnError(child: ChildProcess, command: string): Promise<Error> {
  return new Promise((resolve) => {
    child.once('error', (cause) => resolve(new Error(`${command} could not be started.`, { cause })));
  });
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
