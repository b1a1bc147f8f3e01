import { readFileSync } from 'node:fs';

/** Where the system tells of its connections, as Linux does. */
export const seesSockets = process.platform === 'linux';

interface Held {
  readonly local: number;
  readonly remote: number;
  /** A number of the kernel's, such as 01 for an open connection and 08 for one whose other side is closed. */
  readonly state: string;
}

const LISTENING = '0A';

/** https://docs.kernel.org/networking/proc_net_tcp.html; those that no process has any more have no inode. */
const heldSockets = (): readonly Held[] =>
  readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state !== LISTENING && inode !== undefined && inode !== '0')
    .map(([, local = '', remote = '', state = '']) => ({ local: portOf(local), remote: portOf(remote), state }));

const portOf = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16);

/** Connections that a program still has: those it took at its port, and those it made to the other one. */
export const socketsOf = (port: number, vendorPort: number): readonly string[] =>
  heldSockets()
    .filter(({ local, remote }) => local === port || remote === vendorPort)
    .map(({ local, remote, state }) => `${local} to ${remote} in state ${state}`);

/** Whether a program still has its end of the connection with this client. */
export const hasConnection = (port: number, clientPort: number): boolean =>
  heldSockets().some(({ local, remote }) => local === port && remote === clientPort);
