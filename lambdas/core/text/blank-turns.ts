import { GatewayError } from '../errors/gateway-error.ts';
import type { ContentPart, Turn } from './conversation.ts';

export const isBlank = (text: string): boolean => text.trim() === '';

/** Whether a part is more than blank text. */
export const isSaid = (part: ContentPart): boolean => part.kind !== 'text' || !isBlank(part.text);

const isBlankTurn = (turn: Turn): boolean => {
  if (turn.role === 'user') return !turn.content.some(isSaid);
  if (turn.role === 'tool') return false;
  return isBlank(turn.text) && (turn.role === 'system' || turn.toolCalls.length === 0);
};

/** Turns without blank ones, which OpenAI's chat accepts and other protocols reject (CHAT-2). Throws 400 if none is left. */
export const withoutBlankTurns = (turns: readonly Turn[]): readonly Turn[] => {
  const said = turns.filter((turn) => !isBlankTurn(turn));
  const [last] = turns.slice(-1);
  if (said.length === 0 && last) throw empty(last);
  return said;
};

/**
 * Turns for a provider that gets instructions apart from the conversation. The user must begin the conversation, and the
 * assistant must not end it: https://github.com/NousResearch/hermes-agent/issues/55427 (2026-06-30),
 * https://github.com/envoyproxy/ai-gateway/pull/2686 (2026-09-14). So a blank turn of the user stays before an assistant
 * that would begin. Throws the 400 for a blank turn that leaves nothing to respond to.
 */
export const dialogueOf = (turns: readonly Turn[]): readonly Turn[] => {
  const said = withoutBlankTurns(turns);
  const spoken = turns.filter(({ role }) => role !== 'system');
  const end = spoken.findLastIndex((turn) => !isBlankTurn(turn));
  const dropped = spoken.slice(end + 1);
  const asked = end < 0 ? dropped.at(-1) : dropped.find(({ role }) => role === 'user');
  if (asked && (end < 0 || spoken[end]?.role === 'assistant')) throw empty(asked);
  const [first] = spoken;
  if (first?.role !== 'user' || said.find(({ role }) => role !== 'system')?.role !== 'assistant') return said;
  return [{ ...first, content: [{ kind: 'text', text: STAND_IN }] }, ...said];
};

/** Shortest text that providers accept. */
const STAND_IN = '.';

const empty = ({ param }: Turn): GatewayError => {
  const place = `${param}.content`;
  return new GatewayError('invalid_messages', `${place}: must not be empty. Send text.`, { param: place });
};
