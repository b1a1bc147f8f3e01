/** Undefined when the store gave no answer, for whatever reason: a circuit must never fail the call that it watches over. */
export const attempt = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await call();
  } catch {
    return undefined;
  }
};
