/** After an outage many are due, and a run has a minute. */
const CONCURRENCY = 8;

/** Eight at a time, in order of their beginning. Whatever `work` throws ends all. */
export const forEachConcurrent = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};
