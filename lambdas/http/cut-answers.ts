type Callback = () => void;

/** State of the client's connection during a response. */
interface Connection {
  /** Whether the response was cut. A host breaks the connection, so that the response does not look complete. */
  isCut?: boolean;
  /** Only a host that owns connections sets it. */
  onCutEnd?: Callback;
  /** Whether the client broke the connection. Only a host that owns connections knows it. */
  hasLeft?: boolean;
  onLeft?: Callback;
}

const connection = Symbol('connection');

interface Connected {
  [connection]?: Connection;
}

/** Kept on the event itself, because values of a WeakMap survive all but full garbage collections. */
const connectionOf = (event: Connected): Connection => {
  event[connection] ??= {};
  return event[connection];
};

/** Behind a function URL, a cut response ends without its end marker. */
export const markAsCut = (event: object): void => {
  connectionOf(event).isCut = true;
};

export const isCut = (event: object): boolean => connectionOf(event).isCut === true;

/** Sets the callback for the end of a cut response. Its stream may not end, because a stalled client blocks it. */
export const onCutEnd = (event: object, callback: Callback): void => {
  connectionOf(event).onCutEnd = callback;
};

/** Whether the host owns the client's connection and can break it. A function URL cannot. */
export const canBreak = (event: object): boolean => connectionOf(event).onCutEnd !== undefined;

/** Reports that this response is complete. */
export const endCut = (event: object): void => {
  const { isCut, onCutEnd } = connectionOf(event);
  if (isCut) onCutEnd?.();
};

export const markAsLeft = (event: object): void => {
  const state = connectionOf(event);
  state.hasLeft = true;
  state.onLeft?.();
};

/** Calls back once, immediately if the client has already left. */
export const onClientLeft = (event: object, callback: Callback): void => {
  const state = connectionOf(event);
  if (state.hasLeft) callback();
  else state.onLeft = callback;
};
