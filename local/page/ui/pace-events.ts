import type { LedgerEvent } from './wire.ts';

/** How long a hold stands before what follows it is shown, so that an eye sees it. */
const HOLD_MS = 500;
/** An older hold belongs to what the page missed, and is history. */
const RECENT_MS = 2_000;
/** With more than this many to come, nothing waits. */
const WAITING_MAX = 6;

/** Shows events in their order, and slowly when there are few. */
export const paceEvents = (show: (event: LedgerEvent) => void): ((event: LedgerEvent) => void) => {
  const waiting: LedgerEvent[] = [];
  let isHeldBack = false;
  const showNext = (): void => {
    isHeldBack = false;
    for (let event = waiting.shift(); event; event = waiting.shift()) {
      show(event);
      const isHistory = Date.now() - event.at > RECENT_MS;
      if (event.kind !== 'held' || isHistory || waiting.length > WAITING_MAX) continue;
      isHeldBack = true;
      setTimeout(showNext, HOLD_MS);
      return;
    }
  };
  return (event) => {
    waiting.push(event);
    if (!isHeldBack) showNext();
  };
};
