import { readFileSync } from 'node:fs';

/** Whether the system lists its connections, as Linux does. */
export const seesSockets = process.platform === 'linux';

interface Held {
  readonly local: number;
  readonly remote: number;
  /** State number of the kernel, such as 01 for an open connection and 08 for one that the peer closed. */
  readonly state: string;
}

const LISTENING = '0A';

/** https://docs.kernel.org/networking/proc_net_tcp.html. Connections without a process have no inode. */
const heldSockets = (): readonly Held[] =>
  readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state !== LISTENING && inode !== undefined && inode !== '0')
    .map(([, local = '', remote = '', state = '']) => ({ local: portOf(local), remote: portOf(remote), state }));

const portOf = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16);

/** Returns the open connections of a program: those to its port, and its own to the provider's port. */
export const socketsOf = (port: number, vendorPort: number): readonly string[] =>
  heldSockets()
    .filter(({ local, remote }) => local === port || remote === vendorPort)
    .map(({ local, remote, state }) => `${local} to ${remote} in state ${state}`);

/** Whether a program still has the connection to this client. */
export const hasConnection = (port: number, clientPort: number): boolean =>
  heldSockets().some(({ local, remote }) => local === port && remote === clientPort);
