import { type Job, type Reader, readError } from './reading.ts';

const POLL_MS = 1_000;

/** Polls the video that the response has created, and shows its file. Returns whether the video is complete. */
export const readVideo = async (response: Response, reader: Reader): Promise<boolean> => {
  const { show, elapsed, get, wait } = reader;
  show({ firstByteMs: elapsed() });
  let job: Job = await response.json();
  while (job.status === 'queued' || job.status === 'in_progress') {
    show({ state: 'streaming', job });
    await wait(POLL_MS);
    const polled = await get(`/v1/videos/${job.id}`);
    if (!polled.ok) return showProblem(polled, reader);
    job = await polled.json();
  }
  show({ job });
  if (job.status === 'completed') return showFile(job, reader);
  show({ error: job.error ?? { code: 'failed', message: 'The video failed.' } });
  return false;
};

const showFile = async ({ id }: Job, reader: Reader): Promise<boolean> => {
  // A player cannot send the API key, so it gets the file from memory.
  const content = await reader.get(`/v1/videos/${id}/content`);
  if (!content.ok) return showProblem(content, reader);
  const url = URL.createObjectURL(await content.blob());
  reader.show({ media: { kind: 'video', url, file: `${id}.mp4` } });
  return true;
};

const showProblem = async (response: Response, { show }: Reader): Promise<false> => {
  show({ error: await readError(response) });
  return false;
};
