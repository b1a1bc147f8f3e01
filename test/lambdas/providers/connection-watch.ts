import net, { isIP } from 'node:net';
import { afterEach, beforeEach, vi } from 'vitest';
import type { LookupAll } from '../../../lambdas/providers/public-address.ts';

/** Records every address to which a socket of this process starts to connect during a test. */
export const watchConnections = (): string[] => {
  const attempts: string[] = [];
  beforeEach(() => {
    attempts.length = 0;
    const connect = net.Socket.prototype.connect;
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (this: net.Socket, ...args: unknown[]) {
      this.on('connectionAttempt', (address: string) => {
        attempts.push(address);
        // Node emits the event before it connects. If the guard fails, this throw prevents the connection.
        if (!address.startsWith('127.0.0.')) throw new Error(`unexpected connection to ${address}`);
      });
      return Reflect.apply(connect, this, args);
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  return attempts;
};

/** Name server with one list of addresses per query. The last one repeats. */
export const answering = (...answers: readonly (readonly string[])[]): { lookup: LookupAll; asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    lookup: (name, _, callback) => {
      const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
      asked.push(name);
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );
    },
  };
};
