/**
 * Requests whose client was dropped in the middle of its answer. A host that owns the connection breaks it then, so that nobody
 * takes the part for the whole; behind a function URL the answer just ends without its proper end.
 */
const cut = new WeakSet<object>();

export const markAsCut = (event: object): void => {
  cut.add(event);
};

export const isCut = (event: object): boolean => cut.has(event);
