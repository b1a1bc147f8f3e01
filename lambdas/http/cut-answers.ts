/**
 * Requests whose client was disconnected during its response. A host that owns the connection breaks it, so that the
 * incomplete response does not look complete; behind a function URL the response ends without its end marker.
 */
const cut = new WeakSet<object>();

export const markAsCut = (event: object): void => {
  cut.add(event);
};

export const isCut = (event: object): boolean => cut.has(event);

type Callback = () => void;

const endings = new WeakMap<object, Callback>();

/**
 * Sets the callback for the end of a response that was cut. The end of the stream does not show it, because a stalled
 * client keeps the stream from ending.
 */
export const onCutEnd = (event: object, callback: Callback): void => {
  endings.set(event, callback);
};

/** Whether the host owns the client's connection and can break it. A function URL cannot. */
export const canBreak = (event: object): boolean => endings.has(event);

/** Reports that this response is complete. */
export const endCut = (event: object): void => {
  if (cut.has(event)) endings.get(event)?.();
};

/** Requests whose client broke the connection. Only a host that owns connections knows it. */
const left = new WeakSet<object>();

const leaving = new WeakMap<object, Callback>();

export const markAsLeft = (event: object): void => {
  left.add(event);
  leaving.get(event)?.();
};

/** Calls back once, immediately if the client has already left. */
export const onClientLeft = (event: object, callback: Callback): void => {
  if (left.has(event)) callback();
  else leaving.set(event, callback);
};
