import type { JsonValue } from '../../core/json.ts';
import type { VideoWire } from '../../core/videos/video-wire.ts';
import type { WireOptions } from '../vendor-call.ts';
import { createJob, pollJob } from '../video-answers.ts';
import { isAboutAccount, parseArkRefusal, toArkError } from './errors.ts';
import { refuseCommands, toArkVideoRequest } from './video-request.ts';
import { toArkStatus } from './video-status.ts';

const TASKS = '/contents/generations/tasks';

/** The vendor's tasks: https://docs.byteplus.com/en/docs/ModelArk/1520757 */
export const createArkVideoWire = (options: WireOptions): VideoWire => ({
  check: refuseCommands,
  create: async (creation) => {
    const { provider, signal } = creation;
    return createJob(options, {
      provider,
      path: TASKS,
      body: toArkVideoRequest(creation),
      signal,
      refuse: toArkError,
    });
  },
  poll: (job) =>
    pollJob(options, job, {
      path: `${TASKS}/${encodeURIComponent(job.upstreamId)}`,
      toStatus: (body, told) =>
        toArkStatus(body, told, { http: options.http, baseUrl: options.access(job.provider.id).baseUrl }),
      isGone,
      refuse: toArkError,
    }),
});

/** 404 is also what a model says that our account may not use. */
const isGone = (status: number, body: JsonValue): boolean => {
  const refusal = parseArkRefusal(body);
  if (isAboutAccount(refusal)) return false;
  return status === 404 || (status === 400 && /^(?:NotFound(?:\.|$)|ResourceNotFound)/.test(refusal.code));
};
