import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHostileProcess } from '../test/support/hostile-process.ts';

/**
 * Shows how soon a process with few descriptors serves others again while a client keeps sockets open that send no
 * complete request: `SOCKETS=600 DESCRIPTORS=512 npx node bench/idle-sockets.ts`. The sockets never close on their own.
 * Needs `prlimit` of Linux.
 */
const sockets = Number(process.env.SOCKETS ?? 600);
const seconds = Number(process.env.SECONDS ?? 60);
const descriptors = Number(process.env.DESCRIPTORS ?? 512);
const PROBE_MS = 2_000;

const gateway = await startHostileProcess();
spawnSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${descriptors}:${descriptors}`]);

/** Never sends anything, sends half a header, or sends no HTTP. */
const starts = ['', 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'no http\r\n\r\n'];
const open: net.Socket[] = [];
const connect = (index: number): void => {
  const socket = net.connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  socket.once('connect', () => socket.write(starts[index % starts.length] ?? ''));
  open.push(socket);
};

const probe = async (): Promise<string> => {
  const startedAt = performance.now();
  const status = await fetch(`http://127.0.0.1:${gateway.port}/health`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(PROBE_MS),
  }).then(
    (response) => String(response.status),
    () => 'no response',
  );
  return `${status} in ${(performance.now() - startedAt).toFixed(0)} ms`;
};

try {
  console.log(`before: ${await probe()}`);
  const startedAt = performance.now();
  for (let index = 0; index < sockets; index += 1) connect(index);
  while (performance.now() - startedAt < seconds * 1_000) {
    const used = readdirSync(`/proc/${gateway.pid}/fd`).length;
    const at = ((performance.now() - startedAt) / 1_000).toFixed(0);
    console.log(`${at} s: ${await probe()}; ${used} descriptors in use`);
    await sleep(5_000);
  }
} finally {
  for (const socket of open) socket.destroy();
  await gateway.stop();
}
