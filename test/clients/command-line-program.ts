import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandLine, type Place, scripted, type Turn } from './cli/command-line.ts';
import type { ScenarioName } from './client.ts';
import type { ClientProgram, Job, Report } from './client-program.ts';
import { runCommand } from './run-command.ts';

export interface CommandLineOptions {
  readonly commandLine: CommandLine;
  readonly installed: string;
  readonly folder: string;
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limitMs: number;
}

/** Client that is started for each prompt, in separate folders for each scenario. */
export const commandLineProgram = (options: CommandLineOptions): ClientProgram => ({
  run: async (job) => {
    const folder = mkdtempSync(join(options.folder, 'scenario-'));
    const { installed, url } = options;
    const [home, workspace] = [join(folder, 'home'), join(folder, 'workspace')];
    for (const path of [home, workspace]) mkdirSync(path);
    const place: Place = { installed, home, workspace, url, route: job.route, model: job.model };
    try {
      options.commandLine.prepare(place);
      const key = job.key ?? options.env.GATEWAY_KEY;
      await scenarioOf(job)(
        asking({ ...options, env: { ...options.env, HOME: home, GATEWAY_KEY: key } }, place),
        place,
      );
      return { ok: true };
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) } satisfies Report;
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
  stop: () => Promise.resolve(),
});

interface Answer {
  /** Undefined if the client failed. */
  readonly text: string | undefined;
  readonly output: string;
}

interface Asking {
  readonly commandLine: CommandLine;
  ask(prompt: string, turn?: Partial<Turn>): Promise<Answer>;
}

const asking = ({ commandLine, env, limitMs }: CommandLineOptions, place: Place): Asking => ({
  commandLine,
  ask: async (input, turn = {}) => {
    const command = commandLine.command(place, { isContinued: false, ...turn });
    const { stdout, stderr } = await runCommand(command, {
      cwd: place.workspace,
      env,
      limitMs,
      input: scriptOf(input),
    });
    return { text: commandLine.finalText(stdout), output: `${stdout}${stderr}` };
  },
});

/**
 * Adds a call of a missing tool to a prompt without a call. Otherwise the simulated providers would call the first tool
 * that a request offers.
 */
const scriptOf = (prompt: string): string =>
  prompt.includes('[[call ') ? prompt : `${prompt} ${scripted('none', {})}`;

/** Part of every text of the simulated providers that is not about a tool. */
const ANSWER = 'simulated answer';

type Scenario = (asking: Asking, place: Place) => Promise<void>;

const expectText = ({ text, output }: Answer, part: string): void => {
  if (text === undefined) throw new Error(`no final text: ${output.trim().slice(-400)}`);
  if (!text.includes(part)) throw new Error(`"${part}" is not in the final text: ${text.slice(0, 400)}`);
};

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

/** Returns a scenario in which the client must fail with an error that matches `cause`, and without a final text. */
const failing =
  (prompt: string, cause: RegExp): Scenario =>
  async ({ ask }) => {
    const { text, output } = await ask(prompt);
    if (text !== undefined) throw new Error(`no error, but the text: ${text.slice(0, 400)}`);
    if (!cause.test(output)) throw new Error(`${cause} is not in the output: ${output.trim().slice(-400)}`);
  };

const scenarios: Readonly<Partial<Record<ScenarioName, Scenario>>> = {
  plain: async ({ ask }) => expectText(await ask('Say hello.'), ANSWER),
  tools: async ({ ask, commandLine }, place) => {
    expectText(await ask(commandLine.task(place)), 'hello');
    const note = readFileSync(join(place.workspace, 'note.txt'), 'utf8');
    if (note !== 'hello') throw new Error(`note.txt has: ${note}`);
  },
  structured: async ({ ask }, { workspace }) => {
    const path = join(workspace, 'schema.json');
    writeFileSync(path, JSON.stringify(schema));
    // For structured output, Claude Code offers the tool `StructuredOutput`. The other clients request the format
    // instead, and receive no tool call.
    const prompt = `Give me a person. ${scripted('StructuredOutput', { name: 'Ada', age: 36 })}`;
    expectText(await ask(prompt, { schema: path }), '"age"');
  },
  image: async ({ ask }, { workspace }) => {
    const path = join(workspace, 'pixel.png');
    writeFileSync(path, Buffer.from(png, 'base64'));
    expectText(await ask('What do you see?', { image: path }), '1 image(s): image/png');
  },
  turns: async ({ ask }) => {
    expectText(await ask('One.'), ANSWER);
    expectText(await ask('Two.', { isContinued: true }), ANSWER);
    expectText(await ask('Three.', { isContinued: true }), ANSWER);
  },
  error_401: failing('Say hello.', /401|key/i),
  error_402: failing('Say hello.', /402|balance/i),
  error_429: failing('[[status 429 retry-after 1]] Say hello.', /429|rate limit/i),
  error_500: failing('[[status 500]] Say hello.', /50\d|internal/i),
  error_context: failing('[[context-length]] Say hello.', /context|too long/i),
};

const scenarioOf = ({ scenario }: Job): Scenario => {
  const found = scenarios[scenario];
  if (found === undefined) throw new Error(`no command-line client has ${scenario}`);
  return found;
};
