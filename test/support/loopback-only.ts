import { BlockList, isIP, Socket } from 'node:net';

/**
 * Rejects every connection of a test to another machine. Also rejects name lookups, unless the test brings its own
 * lookup: then the returned address is checked.
 */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'));

const hostOf = (target: unknown, second: unknown): string | undefined => {
  if (Array.isArray(target)) return hostOf(target[0], target[1]);
  if (typeof target === 'object' && target !== null) {
    if ('path' in target && target.path) return undefined;
    return 'host' in target && typeof target.host === 'string' ? target.host : 'localhost';
  }
  return typeof target === 'string' && !/^\d+$/.test(target)
    ? undefined
    : typeof second === 'string'
      ? second
      : 'localhost';
};

const bringsLookup = (target: unknown): boolean => {
  if (Array.isArray(target)) return bringsLookup(target[0]);
  return typeof target === 'object' && target !== null && 'lookup' in target && typeof target.lookup === 'function';
};

const refuse = (host: string): never => {
  throw new Error(`A test may connect to this machine only, not to ${host}.`);
};

const marked = Symbol.for('model-gateway.loopback-only');
if (!(marked in Socket.prototype)) {
  const connect = Socket.prototype.connect;
  Object.defineProperty(Socket.prototype, marked, { value: true });
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    const host = hostOf(args[0], args[1]);
    if (host !== undefined && !isLoopback(host)) {
      if (isIP(host) !== 0 || !bringsLookup(args[0])) refuse(host);
      this.on('connectionAttempt', (address: string) => void (isLoopback(address) || refuse(address)));
    }
    return Reflect.apply(connect, this, args);
  } as Socket['connect'];
}
