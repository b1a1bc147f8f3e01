import type { VideoWorkflow } from '../lambdas/core/videos/dependencies.ts';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import { createVideoStepsHandler } from '../lambdas/functions/wiring/video-steps-handler.ts';
import type { Settings } from '../lambdas/settings.ts';
import { readDefinition, toSubstitutions } from '../lib/video/definition.ts';
import type { Executions, ExecutionsOptions } from './emulators/executions.ts';
import type { VideoLeases } from './stores/sqlite/video-leases.ts';

/** Placeholders in the definition: the steps are called in this process. */
const STEP_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:videoSteps';
export const VIDEO_MACHINE_ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:videos';

/**
 * Returns the options of the deployed state machine, with its steps called in this process. `partsOf` is called at the
 * first step.
 */
export const videoMachineOptions = (
  settings: Settings,
  partsOf: () => FunctionDependencies,
  onFailure: (message: string) => void,
): Omit<ExecutionsOptions, 'machineArn'> => {
  let handler: ReturnType<typeof createVideoStepsHandler> | undefined;
  const runTask = async (task: unknown): Promise<object> => {
    handler ??= createVideoStepsHandler(partsOf());
    try {
      return await handler(task);
    } catch (error) {
      onFailure(`  a video step failed: ${JSON.stringify(task)} ${error}`);
      throw error;
    }
  };
  return {
    definition: readDefinition(toSubstitutions({ stepFunctionArn: STEP_ARN, settings })),
    runTask,
    onUnfinished: async (videoId) => void (await runTask({ step: 'release', videoId })),
    onFailure,
  };
};

export interface LocalVideoMachine extends VideoWorkflow {
  stop(): Promise<void>;
}

/** Several renewals fit into a lease. */
const RENEW_MS = 4_000;

/**
 * Runs each video's state machine in memory, in one of the processes that share the database. Executions end with their
 * process: another one, or the next start, resumes their videos.
 */
export const createLocalVideoMachine = (
  partsOf: () => FunctionDependencies,
  leases: VideoLeases,
  onFailure: (message: string) => void,
): LocalVideoMachine => {
  let opened: Promise<Executions> | undefined;
  const open = (): Promise<Executions> => {
    // Loaded at the first video: the library takes memory that most gateways never need.
    opened ??= import('./emulators/executions.ts').then(({ createExecutions }) =>
      createExecutions({
        ...videoMachineOptions(partsOf().settings, partsOf, onFailure),
        machineArn: VIDEO_MACHINE_ARN,
      }),
    );
    return opened;
  };
  const start = async (videoId: string): Promise<'running' | 'ended'> => {
    const executions = await open();
    if (!executions.find(videoId) && !(await leases.take(videoId))) return 'running';
    const found = executions.find(videoId) ?? executions.start(videoId, JSON.stringify({ videoId }));
    return found.status === 'RUNNING' ? 'running' : 'ended';
  };
  const renew = async (): Promise<void> => {
    await leases.renew();
    for (const videoId of await leases.expired()) await start(videoId);
  };
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    renewing ??= renew()
      .catch((error: unknown) => onFailure(`the leases of videos cannot be renewed: ${error}`))
      .finally(() => {
        renewing = undefined;
      });
  }, RENEW_MS).unref();
  return {
    start,
    stop: async () => {
      clearInterval(timer);
      await renewing;
      if (!opened) return;
      await (await opened).stop();
      // Without this call another process waits until the leases have expired.
      await leases.endAll().catch((error: unknown) => onFailure(`the leases of videos cannot be ended: ${error}`));
    },
  };
};
