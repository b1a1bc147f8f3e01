import { expect, test, vi } from 'vitest';
import { readBoxes } from '../mp4-boxes.ts';
import { startSimulated } from '../simulated.ts';
import { begin, made, read } from './ask.ts';

const { simulator } = await startSimulated();

const download = async (url: string) => {
  const response = await fetch(url);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

test('the file is an MP4 with the length of the video', async () => {
  const { bytes } = await download((await made(simulator, '', { duration: 12 })).url);
  const [ftyp, moov, mdat, ...rest] = readBoxes(bytes);
  expect([ftyp?.type, moov?.type, mdat?.type, rest]).toEqual(['ftyp', 'moov', 'mdat', []]);
  const movieHeader = readBoxes(moov!.bytes)[0]!.bytes;
  expect(movieHeader.readUInt32BE(16) / movieHeader.readUInt32BE(12)).toBe(12);
});

test('a file of any size is generated while it is sent', async () => {
  const { url } = await made(simulator, '[[video-bytes 4000000000]]');
  const leaving = new AbortController();
  const response = await fetch(url, { signal: leaving.signal });
  expect(response.headers.get('content-length')).toBe('4000000000');
  for await (const _ of response.body!) break;
  leaving.abort();
  await expect.poll(() => simulator.requests.at(-1)?.outcome).toBe('client-left');
});

test('the URL requires its query and rejects a credential', async () => {
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

test('a test can stall or cut a download after a number of pieces', async () => {
  const { url } = await made(simulator);
  simulator.next({ cutAfter: 2 });
  await expect(download(url)).rejects.toThrow();
  expect(simulator.requests.at(-1)).toMatchObject({ outcome: 'cut', eventsSent: 2 });
  simulator.next({ stallAfter: 2 });
  const leaving = new AbortController();
  const response = await fetch(url, { signal: leaving.signal });
  await expect.poll(() => simulator.requests.at(-1)?.eventsSent).toBe(2);
  leaving.abort();
  await expect(response.arrayBuffer()).rejects.toThrow(/abort/);
});
