import OpenAI, { NotFoundError } from 'openai';
import { expect, test } from 'vitest';
import { isForm } from '../../../../lambdas/http/form-body.ts';
import { NOW } from '../../core/videos/video-samples.ts';
import { invoke } from '../../http/function-url.ts';
import { fileOf, png } from './images.ts';
import { requestIdOf, videosService } from './videos-service.ts';

/** The vendor's own client, whose requests go straight into the chain. */
const opened = async () => {
  const service = await videosService();
  const sent: Request[] = [];
  const client = new OpenAI({
    apiKey: service.apiKey,
    baseURL: 'http://gateway.test/v1',
    maxRetries: 0,
    fetch: async (url, init) => {
      const request = new Request(url, init);
      // It asks first whether forms can be sent.
      if (request.url.startsWith('data:')) return fetch(request);
      sent.push(request.clone());
      const { pathname, searchParams } = new URL(request.url);
      const event = service.eventOf({
        method: request.method,
        path: pathname,
        headers: Object.fromEntries(request.headers),
        body: Buffer.from(await request.arrayBuffer()),
        base64: true,
      });
      const { status, headers, bytes } = await invoke(service.handler, {
        ...event,
        queryStringParameters: Object.fromEntries(searchParams),
      });
      return new Response(Uint8Array.from(bytes), { status, headers });
    },
  });
  return { ...service, client, sent };
};

const basic = { model: 'film-1', prompt: 'a cat\nand a dog' };
const ID = `video_${requestIdOf(1)}`;

test('VID-1 the vendor’s SDK creates a video by a form without a file', async () => {
  const { client, sent } = await opened();
  const video = await client.videos.create({ ...basic, seconds: '8', size: '1280x720' });
  expect(video).toMatchObject({
    id: ID,
    object: 'video',
    status: 'queued',
    seconds: '8',
    size: '1280x720',
    progress: 0,
  });
  expect(isForm(sent[0]?.headers.get('content-type') ?? undefined)).toBe(true);
});

test('VID-2 the vendor’s SDK sends a first frame', async () => {
  const { client, wire } = await opened();
  await client.videos.create({ ...basic, input_reference: fileOf(png(1280, 720)) });
  expect(wire.creations).toMatchObject([{ reference: { mediaType: 'image/png' } }]);
  const refused = client.videos.create({ ...basic, input_reference: fileOf(png(720, 1280)) });
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_size', param: 'input_reference' });
});

test('VID-8 the vendor’s SDK reads, lists, downloads and deletes a video', async () => {
  const { client, memory } = await opened();
  await client.videos.create(basic);
  await client.videos.create(basic);
  expect(await client.videos.retrieve(ID)).toMatchObject({ id: ID, status: 'queued' });
  const ids: string[] = [];
  for await (const { id } of client.videos.list({ limit: 1, order: 'asc' })) ids.push(id);
  expect(ids).toEqual([ID, `video_${requestIdOf(2)}`]);
  async function* bytes() {
    yield Buffer.from('film');
  }
  await memory.files.put(ID, bytes());
  await memory.jobs.noteFile(ID, { name: ID, bytes: 4, sha256: 'abc' }, 1);
  await memory.jobs.end(ID, { state: 'completed', completedAtMs: NOW });
  expect(await (await client.videos.downloadContent(ID)).text()).toBe('film');
  expect(await client.videos.delete(ID)).toEqual({ id: ID, object: 'video.deleted', deleted: true });
  await expect(client.videos.retrieve(ID)).rejects.toBeInstanceOf(NotFoundError);
});
