import * as z from 'zod';
import type { Simulator } from '../../../../local/simulators/server.ts';

export const tasksPath = '/api/v3/contents/generations/tasks';
const headers = { authorization: 'Bearer ark-test', 'content-type': 'application/json' };

export const toBody = (text: string, more: object = {}) => ({
  model: 'dreamina-seedance-2-0-260128',
  content: [{ type: 'text', text }],
  resolution: '720p',
  ratio: '16:9',
  duration: 4,
  ...more,
});

export const create = (simulator: Simulator, body: unknown, signal?: AbortSignal) =>
  fetch(`${simulator.url}${tasksPath}`, { method: 'POST', headers, body: JSON.stringify(body), signal });

export const poll = (simulator: Simulator, id: string) => fetch(`${simulator.url}${tasksPath}/${id}`, { headers });

const idSchema = z.strictObject({ id: z.string() });
const taskSchema = z.looseObject({
  status: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  content: z.object({ video_url: z.url() }).optional(),
});
const errorSchema = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), param: z.string(), type: z.string() }),
});

/** Creates a job and returns its id. */
export const begin = async (simulator: Simulator, text: string, more: object = {}): Promise<string> => {
  const response = await create(simulator, toBody(text, more));
  return idSchema.parse(await response.json()).id;
};

/** Polls a job. */
export const read = async (simulator: Simulator, id: string) =>
  taskSchema.parse(await (await poll(simulator, id)).json());

export const errorOf = async (response: Response) => errorSchema.parse(await response.json()).error;

/** Creates a job that is finished immediately, and returns its id and the URL of its file. */
export const made = async (simulator: Simulator, markers = '', more: object = {}) => {
  const id = await begin(simulator, `a quiet sea [[takes 0]] ${markers}`, more);
  const { content } = await read(simulator, id);
  return { id, url: content?.video_url ?? '' };
};
