/** `cacheWrite1h` is `cache_write_1h`. */
export const toWireName = (name: string): string => name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);

/** In the order of the alphabet: a store keeps none, and two reads of one record are to be equal. */
export const wireNames = <From, To>(
  values: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(
    Object.keys(values)
      .sort()
      .flatMap((name) => {
        const value = values[name];
        return value === undefined ? [] : [[toWireName(name), to(value)]];
      }),
  );
