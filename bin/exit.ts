import { CommanderError } from 'commander';
import { GatewayError } from '../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../lambdas/core/errors/store-error.ts';

export const exits = { done: 0, failed: 1, misused: 2, refused: 3 } as const;

type ExitCode = (typeof exits)[keyof typeof exits];

/** Expected end of a command, with an exit code and a message of one or two sentences. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Exit for a failed operation, or for an account, hold or video that does not exist. */
export const failed = (message: string, cause?: unknown): CliError => new CliError(exits.failed, message, cause);

/** Exit for a wrong command line. */
export const misused = (message: string): CliError => new CliError(exits.misused, message);

/** Exit for a command that a rule forbids. Nothing was changed. */
export const refused = (message: string): CliError => new CliError(exits.refused, message);

/** Exit for a command that has printed a negative result, such as `doctor` with a failure. Has no message. */
export const unsatisfied = (): CliError => new CliError(exits.failed, '');

export interface Ending {
  readonly exitCode: ExitCode;
  /** Message for stderr; undefined if it was already printed. */
  readonly message: string | undefined;
}

/** Converts a thrown value into an exit code and a message without a stack trace. */
export const toEnding = (error: unknown): Ending => {
  // Commander has already printed its message.
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exits.done : exits.misused, message: undefined };
  }
  if (error instanceof CliError) {
    return { exitCode: error.exitCode, message: error.message || undefined };
  }
  if (error instanceof GatewayError) return { exitCode: exitOfStatus(error.status), message: error.message };
  if (error instanceof StoreError)
    return {
      exitCode: exits.failed,
      message: `The store did not respond: ${whyOf(error)}. Run the same command again.`,
    };
  return { exitCode: exits.failed, message: whyOf(error) };
};

const exitOfStatus = (status: number): ExitCode => {
  if (status === 400) return exits.misused;
  return status < 500 ? exits.refused : exits.failed;
};

/** Returns the message of the error, or of its cause where the outer error says less. */
export const whyOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StoreError && error.cause instanceof Error) return whyOf(error.cause);
  // A connection that failed for every address of a host throws an AggregateError without a message.
  if (error instanceof AggregateError && !error.message) return whyOf(error.errors[0]);
  return error.message || error.name;
};
