/** Holds every request until it is opened, so that a test can start all of them before the first response. */
export type Gate = {
  /** Number of requests so far. */
  arrived(): number;
  /** Resolves after n requests have arrived. */
  waitFor(n: number): Promise<void>;
  /** Lets all requests pass, including later ones. */
  open(): void;
};

export type GateKeeper = Gate & { pass(): Promise<void> };

export function createGate(): GateKeeper {
  const opened = Promise.withResolvers<void>();
  let waiting: { n: number; resolve: () => void }[] = [];
  let arrived = 0;
  return {
    arrived: () => arrived,
    waitFor(n) {
      if (arrived >= n) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ n, resolve }));
    },
    open: opened.resolve,
    pass() {
      arrived += 1;
      for (const { n, resolve } of waiting) if (arrived >= n) resolve();
      waiting = waiting.filter(({ n }) => arrived < n);
      return opened.promise;
    },
  };
}
