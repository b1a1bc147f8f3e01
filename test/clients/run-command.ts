import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limitMs: number;
  /** Text on stdin. Default: stdin is closed. */
  readonly input?: string;
}

export interface CommandResult {
  /** Exit code. Null if the program did not start, or if a signal or the time limit ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, or ends its process group at the limit. Never throws. */
export const runCommand = (
  [program = '', ...args]: readonly string[],
  { cwd, env, limitMs, input }: CommandOptions,
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: 'pipe', detached: true });
    // A program may end before it has read its input.
    child.stdin.on('error', () => undefined).end(input);
    const text = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (more: string) => (text.stdout += more));
    child.stderr.setEncoding('utf8').on('data', (more: string) => (text.stderr += more));
    const end = (): void => endGroup(child.pid);
    const timer = setTimeout(() => {
      text.stderr += `\nNo end after ${limitMs / 1_000} s.`;
      end();
    }, limitMs);
    process.once('exit', end);
    const finish = (code: number | null): void => {
      clearTimeout(timer);
      process.off('exit', end);
      // Ends the processes that the client started and left running.
      end();
      resolve({ code, ...text });
    };
    child.once('error', (error) => {
      text.stderr += error.message;
      finish(null);
    });
    child.once('close', finish);
  });

/** Ends a process that was started as the leader of its group, and its children. */
export const endGroup = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
};
