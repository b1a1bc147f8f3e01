import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { errorSchema } from '../support/gateway-chat.ts';
import { until, within } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { runBin, runCli } from './cli-process.ts';
import { canMount, type Mount, mountMemory, printSkip } from './mounts.ts';
import { CLIENTS, type Reply, type StoreLoad, settleFolder, startStoreLoad, untilHealth } from './store-load.ts';

if (!canMount) printSkip('tests of a full disk');

const BALANCE_USD = '1000';
const environment = {
  LOCAL_BALANCE_USD: BALANCE_USD,
  SWEEP_SECONDS: '1',
  VIDEO_POLL_SECONDS: '1',
  VIDEO_RETRY_SECONDS: '1',
};
const degraded = { status: 'degraded', problems: ['disk_space'] };

let vendor: Simulator;
let disk: Mount;
let gateway: TestProgram;
beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 1_000 });
});
afterAll(() => vendor?.stop());

const folder = (): string => join(disk.path, 'data');
const cli = (...args: string[]) => runCli(args, { DATA_DIR: folder() });
const reserve = (): string => join(folder(), 'database', 'reserve');
const ballast = (): string => join(disk.path, 'ballast');
const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(disk.path);
  return bavail * bsize;
};

/** Fills the disk to its last byte. */
const fill = (): void => {
  const file = openSync(ballast(), 'a');
  const piece = Buffer.alloc(1024 * 1024, 1);
  for (let length = piece.length; length > 0; ) {
    try {
      writeSync(file, piece, 0, length);
    } catch {
      length = Math.floor(length / 2);
    }
  }
  closeSync(file);
};

/** Starts a load in which every client waits for the provider. Returns a function that lets the provider respond. */
const startGatedLoad = async () => {
  const load = startStoreLoad(gateway);
  await until('40 responses', () => (load.whole() >= 40 ? true : undefined));
  const gate = vendor.gate();
  await within('every client to reach the provider', gate.waitFor(CLIENTS));
  return { load, held: load.sent(), open: gate.open };
};

const expectRefused = (replies: readonly Reply[]): void => {
  for (const { status, text } of replies) {
    expect(status).toBe(503);
    expect(errorSchema.parse(JSON.parse(text)).error.code).toBe('service_unavailable');
  }
};

/** Removes the ballast and waits until the gateway serves requests again. */
const recover = async (load: StoreLoad): Promise<void> => {
  rmSync(ballast());
  expect(await untilHealth(gateway, 200)).toEqual({ status: 'ok' });
  expect(existsSync(reserve())).toBe(true);
  const whole = load.whole();
  await until('20 responses', () => (load.whole() >= whole + 20 ? true : undefined));
  await load.stop();
};

const wholeOf = (replies: readonly Reply[]): readonly string[] =>
  replies
    .filter(({ isWhole }) => isWhole)
    .map(({ requestId }) => requestId)
    .sort();

/** Stops the gateway, and compares the charges in its folder with the responses. */
const expectMoneyOf = async (replies: readonly Reply[]): Promise<void> => {
  for (const { text } of replies) expect(text).not.toContain(disk.path);
  await gateway.stop();
  const { balance, charged, sum, audit } = await settleFolder(folder(), vendor.url);
  expect(charged).toEqual(wholeOf(replies));
  expect(balance).toBe(parseUsd(BALANCE_USD) - sum);
  expect(audit).toEqual([0, expect.stringContaining(' 0 open holds'), expect.anything()]);
};

const videoSchema = z.looseObject({ id: z.string(), status: z.string() });
const sendVideo = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${gateway.url}/v1/videos${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return videoSchema.parse(await response.json());
};

describe.skipIf(!canMount)('a disk of 200 MB', () => {
  beforeEach(async () => {
    vendor.reset();
    disk = mountMemory(200);
    gateway = await startGateway({ stores: 'engine', vendorUrl: vendor.url, folder: folder(), environment });
  });
  afterEach(async () => {
    await gateway?.stop();
    disk.unmount();
  });

  test('BILL-14 GEN-10 on a full disk, requests with a hold are charged and new ones get 503', async () => {
    const { load, held, open } = await startGatedLoad();
    fill();
    expect(await untilHealth(gateway, 503)).toEqual(degraded);
    expectRefused(await load.sendOfEachKind());
    open();
    const replies = await load.repliesUpTo(held);
    expect(replies.filter(({ isWhole }) => !isWhole)).toEqual([]);
    expect(existsSync(reserve()), 'the reserved space was freed').toBe(false);
    const refused = load.sent();
    expectRefused((await load.repliesUpTo(refused)).filter(({ number }) => number > held));
    await recover(load);
    await expectMoneyOf(load.replies);
  });

  test('BILL-14 GEN-10 without a free byte, no answered request is lost', async () => {
    const { load, held, open } = await startGatedLoad();
    fill();
    expect(await untilHealth(gateway, 503)).toEqual(degraded);
    expectRefused(await load.sendOfEachKind());
    expect(existsSync(reserve()), 'the reserved space exists').toBe(false);
    fill();
    expect(freeBytes()).toBe(0);
    open();
    const failed = (await load.repliesUpTo(held)).filter(({ isWhole }) => !isWhole);
    expect(failed.length).toBeGreaterThan(0);
    for (const { text } of failed) expect(text).toContain('"code":"service_unavailable"');
    const stderr = `${folder()} cannot be used: the disk is full. Free space on it.\n`;
    const refused = { status: 1, stdout: '', stderr };
    expect(await cli('keys', 'issue', 'acme', '--create', '--reason', 'a test', '--yes')).toEqual(refused);
    expect(await runBin('local.ts', [], { DATA_DIR: folder(), PORT: '0' })).toEqual(refused);
    await recover(load);
    await expectMoneyOf(load.replies);
  });

  test('VID-5 a video without disk space is stored and charged after space is freed', async () => {
    const prompt = 'A lighthouse [[takes 1]] [[video-bytes 60000000]]';
    const gate = vendor.gate();
    const creating = sendVideo('POST', '', { model: 'seedance-2-0-fast', prompt, seconds: '4' });
    await within('the creation', gate.waitFor(1));
    // Less than the size of the video is free.
    const file = openSync(ballast(), 'a');
    writeSync(file, Buffer.alloc(freeBytes() - 50 * 1024 * 1024));
    closeSync(file);
    gate.open();
    const { id } = await creating;
    await until('a failed attempt', () => (gateway.output().includes('a video step failed') ? true : undefined));
    rmSync(ballast());
    const ended = await until('the video', async () => {
      const { status } = await sendVideo('GET', `/${id}`);
      return status === 'completed' || status === 'failed' ? status : undefined;
    });
    expect(ended).toBe('completed');
    await gateway.stop();
    const { balance, charged, sum, audit } = await settleFolder(folder(), vendor.url);
    expect(charged).toHaveLength(1);
    expect([balance, audit[0]]).toEqual([parseUsd(BALANCE_USD) - sum, 0]);
  });
});
