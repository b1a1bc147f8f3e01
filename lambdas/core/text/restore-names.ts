import type { TextAnswer, TextDelta, WireAnswer, WireEvent, WireStream } from './text-wire.ts';

/** Names of the client by the names that the provider got instead (CHAT-5). */
type OwnNames = ReadonlyMap<string, string>;

/** Puts the client's function names back into the calls of a response. Native content is unchanged. */
export const restoreNames = (sent: WireAnswer | WireStream, ownNames: OwnNames = new Map()): typeof sent => {
  if (ownNames.size === 0) return sent;
  if (sent.kind === 'answer') {
    const { content } = sent;
    return content.kind === 'native'
      ? sent
      : { ...sent, content: { ...content, answer: restoredAnswer(content.answer, ownNames) } };
  }
  return { ...sent, events: restoredEvents(sent.events, ownNames) };
};

const restored = <Named extends { readonly name: string }>(named: Named, ownNames: OwnNames): Named => ({
  ...named,
  name: ownNames.get(named.name) ?? named.name,
});

const restoredAnswer = (answer: TextAnswer, ownNames: OwnNames): TextAnswer => ({
  ...answer,
  toolCalls: answer.toolCalls.map((call) => restored(call, ownNames)),
});

const restoredDelta = (delta: TextDelta, ownNames: OwnNames): TextDelta =>
  delta.kind === 'tool_call' ? restored(delta, ownNames) : delta;

const restoredEvents = (
  events: AsyncIterator<WireEvent, void>,
  ownNames: OwnNames,
): AsyncIterator<WireEvent, void> => ({
  next: async () => {
    const next = await events.next();
    if (next.done || next.value.kind !== 'neutral') return next;
    const deltas = next.value.deltas.map((delta) => restoredDelta(delta, ownNames));
    return { done: false, value: { ...next.value, deltas } };
  },
});
