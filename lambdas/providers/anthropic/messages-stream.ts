import type { Frame, StreamReader } from '../read-stream.ts';
import { incomplete, type RefusalContext } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import { toInBandError } from './errors.ts';
import { MessageTally, nameOf, readEvent } from './messages-events.ts';
import { ownParam } from './vendor-path.ts';

export interface MessagesStreamOptions {
  /** The id the client is to see. */
  readonly modelId: string;
  readonly told: RefusalContext;
}

const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/**
 * https://platform.claude.com/docs/en/build-with-claude/streaming, for clients of the same protocol: events pass as they came, but
 * for the model in the first (MSG-1). From the one with the stop reason on they are held back. An answer is good when that one
 * brought the final usage, or when `message_stop` followed it (BILL-9, BILL-10).
 */
export const nativeReader = ({ modelId, told }: MessagesStreamOptions): StreamReader => {
  const tally = new MessageTally();
  const held: string[] = [];
  let opening = true;
  let isDone = false;
  return {
    take: (frame, out) => {
      const name = nameOf(frame);
      if (name === 'error') throw toInBandError(readEvent(frame.data), told, ownParam);
      let text = frame.text;
      if (name === 'message_start') text = withOurModel(frame, tally.begin(readEvent(frame.data)).model, modelId);
      else if (name === 'message_delta') tally.change(readEvent(frame.data));
      else if (name === 'message_stop') isDone = true;
      else if (name !== 'ping') opening = false;
      if (isDone || tally.stopReason !== undefined) held.push(text);
      else out.native(text, opening);
    },
    get isDone() {
      return isDone;
    },
    get isWhole() {
      return tally.usage !== undefined;
    },
    end: () => {
      const { usage, stopReason } = tally;
      if (stopReason === undefined || !(isDone || usage)) throw incomplete();
      return { kind: 'end', ending: { kind: 'native', events: isDone ? held : [...held, MESSAGE_STOP] }, usage };
    },
  };
};

/** Only the value of the message's own `model` is replaced, and only where it differs. */
const withOurModel = ({ text, data }: Frame, theirs: unknown, ours: string): string => {
  if (typeof theirs !== 'string' || theirs === ours) return text;
  for (const { index, 0: name } of data.matchAll(/"message"\s*:\s*(?=\{)/g)) {
    const message = index + name.length;
    const span = topLevelString(data.slice(message), 'model');
    if (!span || JSON.parse(data.slice(message + span.start, message + span.end)) !== theirs) continue;
    const changed = `${data.slice(0, message + span.start)}${JSON.stringify(ours)}${data.slice(message + span.end)}`;
    return `${text.slice(0, text.indexOf('data: '))}data: ${changed.replaceAll('\n', '\ndata: ')}\n\n`;
  }
  return text;
};
