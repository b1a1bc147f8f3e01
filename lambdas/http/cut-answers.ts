/**
 * Requests whose client was dropped in the middle of its answer. A host that owns the connection breaks it then, so that nobody
 * takes the part for the whole; behind a function URL the answer just ends without its proper end.
 */
const cut = new WeakSet<object>();

export const markAsCut = (event: object): void => {
  cut.add(event);
};

export const isCut = (event: object): boolean => cut.has(event);

type Callback = () => void;

const endings = new WeakMap<object, Callback>();

/** Calls back when all of an answer that was cut has been made: a client that takes nothing never lets it come to its end. */
export const onCutEnd = (event: object, callback: Callback): void => {
  endings.set(event, callback);
};

/** Whether somebody here owns the client's connection and breaks it; behind a function URL nobody does. */
export const canBreak = (event: object): boolean => endings.has(event);

/** All of this answer has been made. */
export const endCut = (event: object): void => {
  if (cut.has(event)) endings.get(event)?.();
};

/** Requests whose client broke the connection. Only a host that owns connections knows; Lambda tells nobody. */
const left = new WeakSet<object>();

const leaving = new WeakMap<object, Callback>();

export const markAsLeft = (event: object): void => {
  left.add(event);
  leaving.get(event)?.();
};

/** Calls back once, at once if the client has left already. */
export const onClientLeft = (event: object, callback: Callback): void => {
  if (left.has(event)) callback();
  else leaving.set(event, callback);
};
