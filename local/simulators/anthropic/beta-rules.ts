import type { IncomingHttpHeaders } from 'node:http';
import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { CountRequest } from './request.ts';

/** Returns the values of `anthropic-beta`. Unknown values are accepted, because the provider's list is not public. */
export function betasOf(headers: IncomingHttpHeaders): ReadonlySet<string> {
  const values = [headers['anthropic-beta'] ?? []].flat().join(',').split(',');
  return new Set(values.map((value) => value.trim()));
}

type GatedField = {
  /** Each of these values allows the field. */
  readonly betas: readonly string[];
  /** Path of the field, if the request has it. */
  readonly find: (request: CountRequest) => string | undefined;
};

/**
 * Fields of the SDK's beta types that the plain types lack (1.11.0, `resources/beta/messages`). Source of the messages,
 * and of the beta that Claude Code names for per-message effort: https://github.com/router-for-me/CLIProxyAPI/pull/5563
 */
const gatedFields: readonly GatedField[] = [
  {
    betas: ['context-management-2025-06-27'],
    find: ({ context_management: edits }) => (edits === undefined ? undefined : 'context_management'),
  },
  {
    betas: ['task-budgets-2026-03-13'],
    find: ({ output_config: config }) => (config?.task_budget == null ? undefined : 'output_config.task_budget'),
  },
  {
    betas: [
      'mid-conversation-output-config-2026-07-01',
      'mid-conversation-effort-2026-08-01',
      'per-turn-control-2026-07-01',
    ],
    find: ({ messages }) => messageField(messages, 'output_config'),
  },
  {
    betas: ['mid-conversation-system-clear-at-2026-08-21'],
    find: ({ messages }) => messageField(messages, 'clear_at'),
  },
  {
    betas: ['thinking-binding-controls-2026-08-01'],
    find: ({ thinking }) =>
      thinking?.type === 'adaptive' && thinking.block_binding != null ? 'thinking.adaptive.block_binding' : undefined,
  },
];

function messageField(messages: CountRequest['messages'], name: 'output_config' | 'clear_at'): string | undefined {
  const at = messages.findIndex((message) => message[name] != null);
  return at < 0 ? undefined : `messages.${at}.${name}`;
}

export function refuseUnnamedBetas(request: CountRequest, betas: ReadonlySet<string>): VendorRefusal | undefined {
  for (const { betas: needed, find } of gatedFields) {
    const field = needed.some((beta) => betas.has(beta)) ? undefined : find(request);
    if (field !== undefined) return anthropicError(400, `${field}: Extra inputs are not permitted`);
  }
  return betas.has('mid-conversation-tool-changes-2026-07-01') ? undefined : refuseToolChanges(request);
}

function refuseToolChanges({ messages }: CountRequest): VendorRefusal | undefined {
  for (const [at, { content }] of messages.entries()) {
    const index = content.findIndex(({ type }) => type === 'tool_addition' || type === 'tool_removal');
    if (index < 0) continue;
    const words = "found using 'type' does not match any of the expected tags";
    return anthropicError(400, `messages.${at}.content.${index}: Input tag '${content[index]?.type}' ${words}`);
  }
  return undefined;
}
