import type { LedgerEvent } from './wire.ts';

/** Time for which a hold is shown before its result, so that it is visible. In ms. */
const HOLD_MS = 500;
/** An older hold happened before the page was open, and is shown without a pause. In ms. */
const RECENT_MS = 2_000;
/** With more waiting events than this, none is delayed. */
const WAITING_MAX = 6;

/** Shows events in order, and slowly if there are few. */
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
