import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { CountRequest } from './request.ts';
import type { Block } from './request-blocks.ts';
import { type Turn, toTurns } from './turns.ts';

/**
 * Checks that the next turn of the user starts with exactly one result for each call, and that each result has a call
 * in the turn before. Sources of the messages: https://github.com/anthropics/claude-code/issues/8210,
 * https://github.com/anthropics/claude-code/issues/13460, https://github.com/trycua/cua/issues/524,
 * https://github.com/vectorize-io/hindsight/pull/4250.
 */
export function refuseToolPairs({ messages }: CountRequest): VendorRefusal | undefined {
  const turns = toTurns(messages);
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const problem =
      turn.role === 'assistant' ? callProblem(turn, turns[index + 1], seen) : resultProblem(turn, turns[index - 1]);
    if (problem !== undefined) return anthropicError(400, problem);
  }
  return undefined;
}

function callProblem(turn: Turn, next: Turn | undefined, seen: Set<string>): string | undefined {
  for (const [index, block] of turn.blocks.entries()) {
    if (block.type !== 'tool_use') continue;
    if (seen.has(block.id)) return `messages.${turn.at}.content.${index}: \`tool_use\` ids must be unique`;
    seen.add(block.id);
  }
  const following = next?.blocks ?? [];
  const words = following.findIndex(({ type }) => type !== 'tool_result');
  const answered = new Set((words < 0 ? following : following.slice(0, words)).map(answeredId));
  const missing = callIds(turn).filter((id) => !answered.has(id));
  if (missing.length === 0) return undefined;
  return (
    `messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
    `${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  );
}

function resultProblem(turn: Turn, before: Turn | undefined): string | undefined {
  const called = new Set(before === undefined ? [] : callIds(before));
  const answered = new Set<string>();
  for (const [index, block] of turn.blocks.entries()) {
    const id = answeredId(block);
    if (id === undefined) continue;
    const field = `messages.${turn.at}.content.${index}`;
    if (!called.has(id)) {
      return (
        `${field}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have ` +
        'a corresponding `tool_use` block in the previous message.'
      );
    }
    if (answered.has(id)) {
      return `${field}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    }
    answered.add(id);
  }
  return undefined;
}

function callIds({ blocks }: Turn): readonly string[] {
  return blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function answeredId(block: Block): string | undefined {
  return block.type === 'tool_result' ? block.tool_use_id : undefined;
}
