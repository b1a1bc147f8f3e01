import { type Case, type Client, chatModels, nativeModels } from './client.ts';

const install = { kind: 'npm', folder: 'cli' } as const;

/** Tools that wait for a search among them run at the vendor: the gateway leaves the field out, and every tool is loaded. */
const ofClaudeCode = { ignored: ['anthropic-beta.advanced-tool-use-2025-11-20', 'tools[].defer_loading'] };

/** Codex always offers a search in the vendor's cache, which the gateway leaves out. */
const ofCodex = { ignored: ['tools[].web_search'] };

/** The first request of each conversation is for its title. */
const ofOpencode = { plain: { requests: 2 }, tools: { requests: 4 } };
const threeTurns = { turns: { requests: 4 } };

/** Programs that start slowly: what does not depend on the model is run once. opencode sums a conversation up that is too long, and tries again. */
const runOnce = (model: string): Case['scenarios'] =>
  model.startsWith('claude-')
    ? { ...threeTurns, error_401: { requests: 2 }, error_402: { requests: 2 }, error_context: { requests: 3 } }
    : {};

export const commandLineClients: readonly Client[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    install,
    packages: ['@anthropic-ai/claude-code'],
    program: 'cli/claude-code.ts',
    setUp: 'cli/claude-code.sh',
    // https://code.claude.com/docs/en/errors#automatic-retries: up to 10 times.
    retries: { on429: 10, on500: 10 },
    cases: [
      {
        route: 'messages',
        model: 'claude-sonnet-5',
        scenarios: {
          plain: ofClaudeCode,
          tools: { ...ofClaudeCode, requests: 3 },
          structured: ofClaudeCode,
          turns: ofClaudeCode,
          error_401: {},
          error_402: {},
          error_context: {},
        },
      },
    ],
  },
  {
    id: 'codex',
    title: 'Codex CLI',
    install,
    packages: ['@openai/codex'],
    program: 'cli/codex.ts',
    setUp: 'cli/codex.toml',
    // https://developers.openai.com/codex/config-reference: five `stream_max_retries`, and four `request_max_retries` of each
    // that are for a 5xx only.
    retries: { on429: 5, on500: 29 },
    cases: [
      {
        route: 'responses',
        model: nativeModels.responses,
        scenarios: {
          plain: ofCodex,
          tools: { ...ofCodex, requests: 3 },
          structured: ofCodex,
          image: ofCodex,
          turns: ofCodex,
          // Every failure of a stream is repeated, whatever its status.
          error_401: { requests: 6 },
          error_402: { requests: 6 },
          error_429: {},
          error_500: {},
          error_context: {},
        },
      },
    ],
  },
  {
    id: 'opencode',
    title: 'opencode',
    install,
    packages: ['opencode-ai'],
    program: 'cli/opencode.ts',
    setUp: 'cli/opencode.json',
    retries: { on429: 4, on500: 4 },
    cases: [
      ...chatModels.map((model) => ({
        route: 'chat' as const,
        model,
        scenarios: { ...ofOpencode, ...runOnce(model) },
      })),
      ...(['responses', 'messages', 'gemini'] as const).map((route) => ({
        route,
        model: nativeModels[route],
        // A model that opencode knows by itself takes images.
        scenarios: { ...ofOpencode, ...(route === 'responses' && threeTurns), image: { requests: 2 } },
      })),
    ],
  },
];
