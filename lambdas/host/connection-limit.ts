import type { Server, Socket } from 'node:net';
import { addressBucket } from '../http/front-door.ts';

export interface ConnectionLimit {
  /** Number of connections that one client IP can have at a time (LIM-9). */
  readonly perAddress: number;
  /** Whether many clients share this IP address, as behind a proxy. */
  readonly isExempt: (address: string) => boolean;
}

/** Closes further connections of a client IP without a response, because each takes a descriptor (LIM-9). */
export const limitConnections = (server: Server, { perAddress, isExempt }: ConnectionLimit): void => {
  const connections = new Map<string, number>();
  const add = (bucket: string, more: number): void => {
    const count = (connections.get(bucket) ?? 0) + more;
    if (count === 0) connections.delete(bucket);
    else connections.set(bucket, count);
  };
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const bucket = addressBucket(remoteAddress);
    if (bucket === undefined || isExempt(remoteAddress)) return;
    add(bucket, 1);
    socket.once('close', () => add(bucket, -1));
    if ((connections.get(bucket) ?? 0) > perAddress) socket.destroy();
  });
};
