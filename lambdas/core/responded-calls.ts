/** Signals of calls whose provider has sent a part of its response. */
const responded = new WeakSet<AbortSignal>();

/** Reports that the first bytes of the body of a response have arrived. The signal is the one of the call. */
export const markResponded = (signal: AbortSignal): void => {
  responded.add(signal);
};

export const hasResponded = (signal: AbortSignal): boolean => responded.has(signal);
