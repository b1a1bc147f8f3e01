import type { Route } from '../client.ts';

/** Command-line client with its own folders, so that no run sees the settings or the history of another. */
export interface Place {
  /** Folder of the installed packages. */
  readonly installed: string;
  readonly home: string;
  readonly workspace: string;
  /** URL of the gateway, without `/v1`. */
  readonly url: string;
  readonly route: Route;
  readonly model: string;
}

/** One prompt of a conversation. The client reads the text from stdin. */
export interface Turn {
  /** Whether the prompt continues the previous conversation. */
  readonly isContinued: boolean;
  /** File with an image that accompanies the text. */
  readonly image?: string;
  /** File with the JSON schema of the final text. */
  readonly schema?: string;
}

export interface CommandLine {
  /** Path of the program for this machine. It may be missing: packages exist for some platforms only. */
  program(installed: string): string;
  /** Writes the configuration that the guide shows. */
  prepare(place: Place): void;
  command(place: Place, turn: Turn): readonly string[];
  /** Final text of the model. Undefined if the client failed. */
  finalText(stdout: string): string | undefined;
  /** Prompt of a task with two tool calls: they write `hello` to `note.txt` and read it. */
  task(place: Place): string;
}

/**
 * Part of the names of the packages for this platform. Paths need it, because the install scripts that would select the
 * platform are not run.
 */
export const platformName = (): string => `${process.platform}-${process.arch}`;

export const scripted = (tool: string, args: Readonly<Record<string, unknown>>): string =>
  `[[call ${tool} ${JSON.stringify(args)}]]`;

/** Returns the values of a client's JSON lines output. Other lines are skipped. */
export const jsonLines = (text: string): readonly unknown[] =>
  text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
