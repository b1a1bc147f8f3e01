/** Holds every request back until it is opened, so that a test can try all of them before the first is answered. */
export type Gate = {
  /** How many requests have come so far. */
  arrived(): number;
  /** Resolves once n requests have come. */
  waitFor(n: number): Promise<void>;
  /** Lets everybody through, those who come later too. */
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
