import type { Message } from './request.ts';
import type { Block } from './request-blocks.ts';

export type Turn = {
  readonly role: Message['role'];
  /** Index of its first message. */
  readonly at: number;
  readonly blocks: readonly Block[];
};

/** Messages of the same role in a row are one turn to the provider. */
export function toTurns(messages: readonly Message[]): readonly Turn[] {
  const turns: { role: Message['role']; at: number; blocks: Block[] }[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...content);
    else turns.push({ role, at, blocks: [...content] });
  }
  return turns;
}
