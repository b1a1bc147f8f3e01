import { cpSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Route } from '../client.ts';
import { type CommandLine, jsonLines, platformName, scripted } from './command-line.ts';

const providers: Readonly<Partial<Record<Route, string>>> = {
  chat: 'gateway',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'google',
};

const textSchema = z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) });
const errorSchema = z.object({ type: z.literal('error') });

const programOf = (installed: string): string =>
  join(installed, `node_modules/opencode-${platformName()}/bin/opencode`);

export const commandLine: CommandLine = {
  program: programOf,
  prepare: ({ workspace }) => cpSync(join(import.meta.dirname, 'opencode.json'), join(workspace, 'opencode.json')),
  command: ({ installed, route, model }, { isContinued, image }) => {
    const options = ['--format', 'json', '--model', `${providers[route]}/${model}`];
    return [
      programOf(installed),
      'run',
      ...options,
      ...(isContinued ? ['--continue'] : []),
      ...(image ? ['--file', image] : []),
    ];
  },
  finalText: (stdout) => {
    const events = jsonLines(stdout);
    if (events.some((event) => errorSchema.safeParse(event).success)) return undefined;
    return events.flatMap((event) => textSchema.safeParse(event).data?.part.text ?? []).at(-1);
  },
  task: () => {
    const write = { command: 'printf hello > note.txt', description: 'Write the note' };
    const read = { command: 'cat note.txt', description: 'Read the note' };
    return `Write a note. ${scripted('bash', write)} ${scripted('bash', read)}`;
  },
};
