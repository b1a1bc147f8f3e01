type Callback = () => void;

/** Requests whose client broke the connection. Only a host that owns connections knows; Lambda tells nobody. */
const left = new WeakSet<object>();
const waiting = new WeakMap<object, Callback>();

export const markAsLeft = (event: object): void => {
  left.add(event);
  waiting.get(event)?.();
};

/** Calls back once, at once if the client has left already. */
export const onClientLeft = (event: object, callback: Callback): void => {
  if (left.has(event)) callback();
  else waiting.set(event, callback);
};
