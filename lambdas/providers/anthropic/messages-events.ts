import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { Frame } from '../read-stream.ts';
import { unreadable } from '../refusals.ts';
import { mergeUsage, toTokenUsage } from './messages-usage.ts';

export const readEvent = (data: string): JsonObject => {
  try {
    const value = parseJson(data);
    if (isJsonObject(value)) return value;
  } catch {}
  throw unreadable();
};

/** The vendor names its events; a server between may not. */
export const nameOf = ({ event, data }: Frame): string => {
  if (event !== '') return event;
  const { type } = readEvent(data);
  return typeof type === 'string' ? type : '';
};

const memberOf = (event: JsonObject, name: string): JsonObject => {
  const member = event[name];
  return isJsonObject(member) ? member : {};
};

/** What the events of one answer say about its end. */
export class MessageTally {
  #reported: JsonObject = {};
  #isFinal = false;
  /** Undefined until the answer has ended. */
  stopReason: string | undefined;

  /** Answers with the announced message. */
  begin(event: JsonObject): JsonObject {
    const message = memberOf(event, 'message');
    this.#reported = memberOf(message, 'usage');
    return message;
  }

  /** Of several changes the last one counts; only with a reason is its usage the final one. */
  change(event: JsonObject): void {
    const usage = memberOf(event, 'usage');
    this.#reported = mergeUsage(this.#reported, usage);
    const reason = memberOf(event, 'delta').stop_reason;
    if (typeof reason === 'string') this.stopReason = reason;
    const isTold = Object.keys(usage).length > 0 && toTokenUsage(this.#reported) !== undefined;
    this.#isFinal = this.stopReason !== undefined && (this.#isFinal || isTold);
  }

  /** Undefined without a final one: the announcement's counts go no further than the first token (BILL-10). */
  get usage(): TokenUsage | undefined {
    return this.#isFinal ? toTokenUsage(this.#reported) : undefined;
  }
}
