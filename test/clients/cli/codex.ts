import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type CommandLine, jsonLines, platformName, scripted } from './command-line.ts';

/** Folder names below the package of a platform. */
const targets: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

const messageSchema = z.object({
  type: z.literal('item.completed'),
  item: z.object({ type: z.literal('agent_message'), text: z.string() }),
});
const failureSchema = z.object({ type: z.literal('turn.failed') });

const programOf = (installed: string): string =>
  join(installed, `node_modules/@openai/codex-${platformName()}/vendor/${targets[platformName()]}/bin/codex`);

export const commandLine: CommandLine = {
  program: programOf,
  prepare: ({ home, url }) => {
    const text = readFileSync(join(import.meta.dirname, 'codex.toml'), 'utf8');
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), text.replaceAll('$GATEWAY_URL', url));
  },
  command: ({ installed }, { isContinued, image, schema }) => {
    // The sandbox limits the access, because with full access Codex requests live search, which runs at the provider.
    const options = ['--skip-git-repo-check', '--json', '--config', 'sandbox_mode="workspace-write"'];
    const more = [...(image ? ['--image', image] : []), ...(schema ? ['--output-schema', schema] : [])];
    return [programOf(installed), 'exec', ...(isContinued ? ['resume', '--last'] : []), ...options, ...more, '-'];
  },
  finalText: (stdout) => {
    const events = jsonLines(stdout);
    if (events.some((event) => failureSchema.safeParse(event).success)) return undefined;
    return events.flatMap((event) => messageSchema.safeParse(event).data?.item.text ?? []).at(-1);
  },
  task: () =>
    `Write a note. ${scripted('exec_command', { cmd: 'printf hello > note.txt' })} ${scripted('exec_command', { cmd: 'cat note.txt' })}`,
};
