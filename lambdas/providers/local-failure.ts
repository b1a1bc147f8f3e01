/**
 * Codes of connections that this machine could not open: it lacks descriptors, ports, buffers or memory, has no network,
 * or forbids the connection. https://nodejs.org/api/errors.html#common-system-errors, and connect(2) and socket(2).
 */
const localCodes: ReadonlySet<unknown> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'EADDRINUSE',
  'ENETDOWN',
  'ENETUNREACH',
  'EACCES',
  'EPERM',
]);

/**
 * Whether the cause of a failed connection is this machine, so that it says nothing about the provider. Includes every
 * failed name lookup: without descriptors or a network, its code is the one of an unknown name
 * (https://nodejs.org/api/dns.html#dnslookuphostname-options-callback). A host with several addresses fails locally only
 * if each of them does.
 */
export const isLocalFailure = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isLocalFailure);
  if ('syscall' in error && error.syscall === 'getaddrinfo') return true;
  return 'code' in error && localCodes.has(error.code);
};
