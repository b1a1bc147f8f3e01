/**
 * Returns a function that loads its implementation at its first call, so that a start does not wait for it. After a failed
 * load, the next call loads again.
 */
export const onFirstUse = <Input extends readonly unknown[], Output>(
  load: () => Promise<(...input: Input) => Promise<Output>>,
): ((...input: Input) => Promise<Output>) => {
  let loaded: ReturnType<typeof load> | undefined;
  return async (...input) => {
    loaded ??= load();
    try {
      await loaded;
    } catch (error) {
      loaded = undefined;
      throw error;
    }
    return (await loaded)(...input);
  };
};
