import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Simulator, startSimulator } from '../../../../../lib/local/upstreams/server.ts';
import { videoBytesOf } from '../../../../../lib/local/upstreams/video-file.ts';
import { readBoxes } from '../mp4-boxes.ts';
import { begin, made, read } from './ask.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(() => {
  simulator.reset();
  vi.useRealTimers();
});
afterAll(() => simulator.stop());

const download = async (url: string) => {
  const response = await fetch(url);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

test('the file is an MP4 of the announced length, the same each time, and no other job has it', async () => {
  const { id, url } = await made(simulator, '', { duration: 12 });
  const { response, bytes } = await download(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  expect(response.headers.get('content-length')).toBe('200000');
  expect(bytes.equals(videoBytesOf(id))).toBe(true);
  expect((await download(url)).bytes.equals(bytes)).toBe(true);

  const [ftyp, moov, mdat, ...rest] = readBoxes(bytes);
  expect([ftyp?.type, moov?.type, mdat?.type, rest]).toEqual(['ftyp', 'moov', 'mdat', []]);
  expect(ftyp?.bytes.toString('latin1', 0, 4)).toBe('isom');
  const [movieHeader] = readBoxes(moov!.bytes);
  expect([movieHeader?.type, movieHeader?.bytes.length]).toEqual(['mvhd', 100]);
  expect(movieHeader!.bytes.readUInt32BE(16) / movieHeader!.bytes.readUInt32BE(12)).toBe(12);

  const other = await made(simulator, '', { duration: 12 });
  expect((await download(other.url)).bytes.equals(bytes)).toBe(false);
});

test.each([1, 132, 133, 65_536, 70_000, 3_000_000])('[[video-bytes %i]]', async (wanted) => {
  const { id, url } = await made(simulator, `[[video-bytes ${wanted}]]`);
  const { response, bytes } = await download(url);
  const boxes = readBoxes(bytes);
  expect(boxes.map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
  // A file cannot be smaller than what every file has.
  const smallest = bytes.length - boxes[2]!.bytes.length;
  expect(bytes.length).toBe(Math.max(wanted, smallest));
  expect(Number(response.headers.get('content-length'))).toBe(bytes.length);
  expect(bytes.equals(videoBytesOf(id))).toBe(true);
});

test('a large file takes the time it takes to read, and no memory', async () => {
  const { url } = await made(simulator, '[[video-bytes 200000000]]');
  const response = await fetch(url);
  const before = process.memoryUsage().arrayBuffers;
  let length = 0;
  let most = 0;
  for await (const piece of response.body!) {
    length += piece.length;
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  expect(length).toBe(200_000_000);
  expect(most).toBeLessThan(100_000_000);
});

test('[[video-slow n]] spreads the file over n milliseconds', async () => {
  const { id, url } = await made(simulator, '[[video-slow 600]]');
  const response = await fetch(url);
  const startedAtMs = Date.now();
  const pieces: Uint8Array[] = [];
  const half: number[] = [];
  for await (const piece of response.body!) {
    pieces.push(piece);
    if (Buffer.concat(pieces).length < 100_000) half.push(Date.now() - startedAtMs);
  }
  expect(Buffer.concat(pieces).equals(videoBytesOf(id))).toBe(true);
  expect(Date.now() - startedAtMs).toBeGreaterThan(500);
  expect([pieces.length > 10, half.at(-1)! > 150]).toEqual([true, true]);
});

test('[[video-broken]] ends before the length it announced', async () => {
  const { id, url } = await made(simulator, '[[video-broken]]');
  const response = await fetch(url);
  expect(response.headers.get('content-length')).toBe('200000');
  const got: Uint8Array[] = [];
  const reading = async () => {
    for await (const piece of response.body!) got.push(piece);
  };
  await expect(reading()).rejects.toThrow();
  const bytes = Buffer.concat(got);
  expect(bytes.length).toBeLessThanOrEqual(100_000);
  expect(bytes.equals(videoBytesOf(id).subarray(0, bytes.length))).toBe(true);
  expect(simulator.requests.at(-1)?.outcome).toBe('cut');
});

test('[[video-no-mp4]] is a page, [[video-missing]] is not there', async () => {
  const page = await download((await made(simulator, '[[video-no-mp4]]')).url);
  expect([page.response.status, page.response.headers.get('content-type')]).toEqual([200, 'text/html']);
  expect(page.bytes.toString()).toContain('<html>');
  const missing = await download((await made(simulator, '[[video-missing]]')).url);
  expect([missing.response.status, missing.response.headers.get('content-type')]).toEqual([404, 'application/xml']);
  expect(missing.bytes.toString()).toContain('<Code>NoSuchKey</Code>');
});

test('the address works only whole and without a credential', async () => {
  const { url } = await made(simulator);
  expect((await fetch(url.split('?')[0]!)).status).toBe(403);
  const authorized = await fetch(url, { headers: { authorization: 'Bearer ark-test' } });
  expect([authorized.status, (await authorized.text()).includes('one auth mechanism')]).toEqual([400, true]);
});

test('there is no file before the job is done', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const startedAtMs = Date.now();
  const id = await begin(simulator, '[[takes 60000]]');
  vi.setSystemTime(startedAtMs + 60_000);
  const url = (await read(simulator, id)).content?.video_url ?? '';
  expect((await fetch(url)).status).toBe(200);
  vi.setSystemTime(startedAtMs + 59_000);
  expect((await fetch(url)).status).toBe(404);
});

test('a test can stall or cut a download at a piece', async () => {
  const { url } = await made(simulator);
  simulator.next({ cutAfter: 2 });
  await expect(download(url)).rejects.toThrow();
  expect(simulator.requests.at(-1)).toMatchObject({ outcome: 'cut', eventsSent: 2 });
  simulator.next({ stallAfter: 2 });
  const response = await fetch(url, { signal: AbortSignal.timeout(200) });
  await expect(response.arrayBuffer()).rejects.toThrow(/timeout/);
});

test('only ids of the simulator have a file', () => {
  expect(() => videoBytesOf('cgt-20260514101521-nk5ct')).toThrow(/no id/);
});
