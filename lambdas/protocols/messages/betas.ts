import type { IgnoredFields } from '../ignored-fields.ts';
import type { PromptBody } from './body.ts';

const contextManagement = 'context-management-2025-06-27';
const taskBudgets = 'task-budgets-2026-03-13';
const displayUpdates = 'thinking-display-updates-2026-08-18';
const bindingControls = 'thinking-binding-controls-2026-08-01';
const clearAt = 'mid-conversation-system-clear-at-2026-08-21';
const toolChanges = 'mid-conversation-tool-changes-2026-07-01';
/** Either lets a system message set the effort of a turn. Claude Code sends the second. */
const turnConfig: readonly string[] = ['mid-conversation-output-config-2026-07-01', 'per-turn-control-2026-07-01'];

/** Values that change no price. Any other could: a larger context, a faster mode, a tool that runs at the vendor. */
const forwarded: ReadonlySet<string> = new Set([
  contextManagement,
  taskBudgets,
  displayUpdates,
  bindingControls,
  clearAt,
  toolChanges,
  ...turnConfig,
  'claude-code-20250219',
  'effort-2025-11-24',
  'extended-cache-ttl-2025-04-11',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'mid-conversation-system-2026-04-07',
  'model-context-window-exceeded-2025-08-26',
  'pdfs-2024-09-25',
  'prompt-caching-2024-07-31',
  'structured-outputs-2025-11-13',
  'structured-outputs-2025-12-15',
  'thinking-token-count-2026-05-13',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
]);

export const BETA_HEADER = 'anthropic-beta';

/** Values of the client's header that may be sent. Lists the others. */
export const readBetas = (header: string | undefined, ignored: IgnoredFields): readonly string[] => {
  const named = new Set((header ?? '').split(',').map((value) => value.trim()));
  named.delete('');
  for (const value of named) if (!forwarded.has(value)) ignored.add([BETA_HEADER, value]);
  return [...named].filter((value) => forwarded.has(value));
};

export const allowsTurnConfig = (named: readonly string[]): boolean =>
  named.some((value) => turnConfig.includes(value));

/** The header that a change of tools in the middle of a conversation needs, unless the client names it. */
export const missingToolChanges = (named: readonly string[]): string | undefined =>
  named.includes(toolChanges) ? undefined : `${BETA_HEADER}: ${toolChanges}`;

/** What the client names and what its fields need. */
export const betaHeaders = (
  named: readonly string[],
  body: PromptBody,
): Readonly<Record<string, string>> | undefined => {
  const values = [...new Set([...named, ...neededBy(body)])];
  return values.length > 0 ? { [BETA_HEADER]: values.join(',') } : undefined;
};

const neededBy = ({ context_management, output_config, thinking, messages }: PromptBody): readonly string[] => [
  ...(context_management ? [contextManagement] : []),
  ...(output_config?.task_budget ? [taskBudgets] : []),
  ...(thinking && 'display' in thinking && thinking.display === 'updates' ? [displayUpdates] : []),
  ...(thinking && 'block_binding' in thinking && thinking.block_binding ? [bindingControls] : []),
  ...(messages.some((message) => message.role === 'system' && message.clear_at) ? [clearAt] : []),
];
