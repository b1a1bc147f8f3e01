import { CommanderError } from 'commander';
import { GatewayError } from '../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../lambdas/core/errors/store-error.ts';

export const exits = { done: 0, failed: 1, misused: 2, refused: 3 } as const;

type ExitCode = (typeof exits)[keyof typeof exits];

/** An end that a command comes to on purpose, told in one sentence. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** It was tried, or what it is about is not there. */
export const failed = (message: string, cause?: unknown): CliError => new CliError(exits.failed, message, cause);

/** The command line cannot be meant. */
export const misused = (message: string): CliError => new CliError(exits.misused, message);

/** A rule stands against it, and nothing was changed. */
export const refused = (message: string): CliError => new CliError(exits.refused, message);

/** The command was done, and its result, which has been printed, is not good. */
export const unsatisfied = (): CliError => new CliError(exits.failed, '');

export interface Ending {
  readonly exitCode: ExitCode;
  /** For stderr; undefined where everything has been said. */
  readonly message: string | undefined;
}

/** What is thrown becomes an exit code and a message, never a stack. */
export const toEnding = (error: unknown): Ending => {
  // Commander has written its own message.
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exits.done : exits.misused, message: undefined };
  }
  if (error instanceof CliError) {
    return { exitCode: error.exitCode, message: error.message || undefined };
  }
  if (error instanceof GatewayError) return { exitCode: exitOfStatus(error.status), message: error.message };
  if (error instanceof StoreError)
    return { exitCode: exits.failed, message: `A store did not answer: ${whyOf(error)}` };
  return { exitCode: exits.failed, message: whyOf(error) };
};

const exitOfStatus = (status: number): ExitCode => {
  if (status === 400) return exits.misused;
  return status < 500 ? exits.refused : exits.failed;
};

/** The first words there are on why, since the outermost error often says nothing but that something went wrong. */
export const whyOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StoreError && error.cause instanceof Error) return whyOf(error.cause);
  // What several addresses of one name have answered comes without a message of its own.
  if (error instanceof AggregateError && !error.message) return whyOf(error.errors[0]);
  return error.message || error.name;
};
