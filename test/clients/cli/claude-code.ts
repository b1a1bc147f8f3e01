import { cpSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type CommandLine, platformName, scripted } from './command-line.ts';

const setUp = 'claude-code.sh';

const resultSchema = z.object({
  is_error: z.literal(false),
  result: z.string(),
  structured_output: z.unknown().optional(),
});

const programOf = (installed: string): string =>
  join(installed, `node_modules/@anthropic-ai/claude-code-${platformName()}/claude`);

export const commandLine: CommandLine = {
  program: programOf,
  prepare: ({ home }) => cpSync(join(import.meta.dirname, setUp), join(home, setUp)),
  command: ({ installed, home }, { isContinued, schema }) => {
    const options = ['--print', '--output-format', 'json', '--allowedTools', 'Write,Bash,Read'];
    const more = [...(isContinued ? ['--continue'] : []), ...(schema ? ['--json-schema', `"$(cat ${schema})"`] : [])];
    return ['sh', '-c', `. ${join(home, setUp)} && exec ${[programOf(installed), ...options, ...more].join(' ')}`];
  },
  finalText: (stdout) => {
    const { data } = z.preprocess(parseJson, resultSchema).safeParse(stdout);
    return data && (data.structured_output === undefined ? data.result : JSON.stringify(data.structured_output));
  },
  task: ({ workspace }) => {
    const path = join(workspace, 'note.txt');
    return `Write a note. ${scripted('Write', { file_path: path, content: 'hello' })} ${scripted('Bash', { command: 'cat note.txt' })}`;
  },
};

const parseJson = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
};
