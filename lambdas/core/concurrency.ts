/** Number of items processed at a time. After an outage many items are due, and a run has one minute. */
const CONCURRENCY = 8;

/** Starts `work` in input order, eight at a time. Rejects with the first error. */
export const forEachConcurrent = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};
