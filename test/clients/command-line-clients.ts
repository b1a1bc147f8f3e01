import { type Case, type Client, chatModels, nativeModels } from './client.ts';

const install = { kind: 'npm', folder: 'cli' } as const;

/**
 * Claude Code defers the loading of some tools until a tool search, which runs at the provider. The gateway omits
 * `defer_loading`, so every tool is loaded.
 */
const ofClaudeCode = { ignored: ['anthropic-beta.advanced-tool-use-2025-11-20', 'tools[].defer_loading'] };

/** Codex always offers a search in the provider's cache. The gateway omits this tool. */
const ofCodex = { ignored: ['tools[].web_search'] };

/** The first request of each conversation is for its title. */
const ofOpencode = { plain: { requests: 2 }, tools: { requests: 4 } };
const threeTurns = { turns: { requests: 4 } };

/**
 * Returns the scenarios that do not depend on the model. They run with one model only, because the program is slow. If
 * a conversation is too long, opencode summarizes it and retries.
 */
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
    // https://developers.openai.com/codex/config-reference: five retries of a stream (`stream_max_retries`). Each of
    // the six attempts has four request retries (`request_max_retries`), after a 5xx only.
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
          // Every failure of a stream is retried, whatever its status.
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
        // The image scenario needs a model that opencode knows to support images.
        scenarios: { ...ofOpencode, ...(route === 'responses' && threeTurns), image: { requests: 2 } },
      })),
    ],
  },
];
