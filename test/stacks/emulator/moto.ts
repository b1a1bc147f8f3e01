import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../local/free-port.ts';
import { pythonProgram } from '../../support/python-program.ts';

const program = pythonProgram('moto_server');

/** Whether moto is installed: `pip install 'moto[server,all]'`. */
export const hasMoto = program !== undefined;

export interface Moto {
  readonly url: string;
  stop(): Promise<void>;
}

const TRIES = 300;

/** Starts moto, an emulator of many AWS services with CloudFormation among them: https://docs.getmoto.org/ */
export const startMoto = async (): Promise<Moto> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(program ?? '', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const stop = (): Promise<void> => ended(child);
  for (let tried = 0; tried < TRIES && child.exitCode === null; tried += 1) {
    const isReady = await fetch(`${url}/moto-api/data.json`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return { url, stop };
    await sleep(100);
  }
  await stop();
  throw new Error('moto did not start');
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await end;
};
