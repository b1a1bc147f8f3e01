import net, { isIP } from 'node:net';
import { afterEach, beforeEach, vi } from 'vitest';
import type { LookupAll } from '../../../lambdas/providers/public-address.ts';

/** Every address a socket of this process begins to connect to during a test, whatever comes of it. */
export const watchConnections = (): string[] => {
  const attempts: string[] = [];
  beforeEach(() => {
    attempts.length = 0;
    const connect = net.Socket.prototype.connect;
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (this: net.Socket, ...args: unknown[]) {
      this.on('connectionAttempt', (address: string) => {
        attempts.push(address);
        // Node tells before it connects: should the guard break, this throw keeps the test from reaching out.
        if (!address.startsWith('127.0.0.')) throw new Error(`a connection to ${address} was about to be made`);
      });
      return Reflect.apply(connect, this, args);
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  return attempts;
};

/** A name server: one list of addresses for each question in turn, the last one from then on. */
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
