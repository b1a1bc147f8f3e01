/** Reads a choice of the reader. Browsers that block storage have none. */
export const readChoice = (name: string): string | undefined => {
  try {
    return localStorage.getItem(`api-reference.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Stores a choice of the reader, or removes it. */
export const storeChoice = (name: string, value: string | undefined): void => {
  try {
    if (value === undefined) localStorage.removeItem(`api-reference.${name}`);
    else localStorage.setItem(`api-reference.${name}`, value);
  } catch {
    // The choice then holds for this page only.
  }
};
