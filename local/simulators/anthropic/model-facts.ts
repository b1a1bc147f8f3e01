export type ThinkingType = 'adaptive' | 'between_tools' | 'disabled' | 'enabled';
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Features and defaults of a model. */
export type ModelFacts = {
  readonly id: string;
  readonly displayName: string;
  readonly createdAt: string;
  readonly line: 'fable' | 'opus' | 'sonnet' | 'haiku';
  readonly contextTokens: number;
  readonly outputTokensMax: number;
  readonly thinkingTypes: readonly ThinkingType[];
  /** Whether the model thinks if the request has no `thinking`. */
  readonly thinksUnasked: boolean;
  readonly displayDefault: 'omitted' | 'summarized';
  /** Undefined if the field is rejected. */
  readonly effortDefault: Effort | undefined;
  /** Whether `xhigh` and `max` are rejected without thinking. */
  readonly effortNeedsThinking: boolean;
  readonly forcedTools: boolean;
  readonly sampling: boolean;
  readonly prefill: boolean;
  /** Whether the conversation can have system messages. */
  readonly systemMessages: boolean;
  /** Whether images and pages keep up to 2,576 pixels: https://platform.claude.com/docs/en/build-with-claude/vision */
  readonly highResolution: boolean;
};

const newest = {
  contextTokens: 1_000_000,
  outputTokensMax: 128_000,
  thinksUnasked: true,
  displayDefault: 'omitted',
  effortDefault: 'high',
  effortNeedsThinking: false,
  forcedTools: true,
  sampling: false,
  prefill: false,
  // Sources disagree only about Sonnet 5; see doubtful-facts.md.
  systemMessages: true,
  highResolution: true,
} as const;

/**
 * Models, newest first, as the provider lists them. Sources for the behavior of each model without explicit settings:
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting,
 * https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5 and
 * https://docs.apiyi.com/en/live/2026-11/claude-thinking-guide-refresh.
 */
const models: readonly ModelFacts[] = [
  {
    ...newest,
    id: 'claude-fable-5-2',
    displayName: 'Claude Fable 5.2',
    createdAt: '2026-11-10T00:00:00Z',
    line: 'fable',
    thinkingTypes: ['adaptive'],
    forcedTools: false,
  },
  {
    ...newest,
    id: 'claude-haiku-5-5',
    displayName: 'Claude Haiku 5.5',
    createdAt: '2026-10-24T00:00:00Z',
    line: 'haiku',
    thinkingTypes: ['adaptive', 'disabled'],
    effortDefault: 'medium',
    effortNeedsThinking: true,
  },
  {
    ...newest,
    id: 'claude-sonnet-5-5',
    displayName: 'Claude Sonnet 5.5',
    createdAt: '2026-09-28T00:00:00Z',
    line: 'sonnet',
    thinkingTypes: ['adaptive', 'between_tools'],
    forcedTools: false,
  },
  {
    ...newest,
    id: 'claude-opus-5-5',
    displayName: 'Claude Opus 5.5',
    createdAt: '2026-09-22T00:00:00Z',
    line: 'opus',
    thinkingTypes: ['adaptive'],
    effortDefault: 'medium',
    forcedTools: false,
  },
  {
    ...newest,
    id: 'claude-opus-5',
    displayName: 'Claude Opus 5',
    createdAt: '2026-07-24T00:00:00Z',
    line: 'opus',
    thinkingTypes: ['adaptive', 'disabled'],
    effortNeedsThinking: true,
  },
  {
    ...newest,
    id: 'claude-sonnet-5',
    displayName: 'Claude Sonnet 5',
    createdAt: '2026-06-30T00:00:00Z',
    line: 'sonnet',
    thinkingTypes: ['adaptive', 'disabled'],
  },
  {
    ...newest,
    id: 'claude-opus-4-8',
    displayName: 'Claude Opus 4.8',
    createdAt: '2026-05-28T00:00:00Z',
    line: 'opus',
    thinkingTypes: ['adaptive', 'disabled'],
    thinksUnasked: false,
  },
  {
    id: 'claude-haiku-4-5-20251001',
    displayName: 'Claude Haiku 4.5',
    createdAt: '2025-10-01T00:00:00Z',
    line: 'haiku',
    contextTokens: 200_000,
    outputTokensMax: 64_000,
    thinkingTypes: ['disabled', 'enabled'],
    thinksUnasked: false,
    displayDefault: 'summarized',
    effortDefault: undefined,
    effortNeedsThinking: false,
    forcedTools: true,
    sampling: true,
    prefill: true,
    systemMessages: false,
    highResolution: false,
  },
];

/** Snapshots of aliases. The provider names the snapshot in its response. */
const aliases: Readonly<Record<string, string>> = { 'claude-haiku-4-5': 'claude-haiku-4-5-20251001' };

export function listModels(): readonly ModelFacts[] {
  return models;
}

export function findModel(name: string): ModelFacts | undefined {
  const id = aliases[name] ?? name;
  return models.find((model) => model.id === id);
}
