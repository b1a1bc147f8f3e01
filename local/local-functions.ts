import { ulid } from 'ulid';
import { installLambdaRuntime, streaming } from '../lambdas/host/lambda-runtime.ts';
import { type Host, type HostOptions, startHost } from '../lambdas/host/server.ts';
import { readSettings } from '../lambdas/settings.ts';
import { readDefinition, toSubstitutions } from '../lib/video/definition.ts';
import { type StepFunctionsStandIn, startStepFunctions } from './step-functions-stand-in.ts';

/*
 * The functions as AWS has them: every entry point is loaded from the environment, which has to be complete by then, and called by
 * what calls it there. Those of Web Functions would listen on ports of their own, and serve nothing that others do not.
 */

type OnFailure = (message: string) => void;

/** The names of this machine's function are nobody's: its steps are called here. */
const stepFunctionArn = 'arn:aws:lambda:us-east-1:000000000000:function:videoSteps';

/** The state machine; its steps are loaded with the first of them, when the machine's own address is in the environment as well. */
export async function openMachine(onFailure: OnFailure): Promise<StepFunctionsStandIn> {
  const settings = readSettings(process.env);
  const runTask = async (task: unknown): Promise<unknown> => {
    const { handler } = await import('../lambdas/functions/video-steps.ts');
    try {
      return await handler(task);
    } catch (error) {
      onFailure(`  a step of a video failed: ${JSON.stringify(task)} ${error}`);
      throw error;
    }
  };
  return startStepFunctions({
    definition: readDefinition(toSubstitutions({ stepFunctionArn, settings })),
    runTask,
    onUnfinished: async (videoId) => void (await runTask({ step: 'release', videoId })),
    onFailure,
  });
}

type HostPlace = Pick<HostOptions, 'port' | 'address' | 'beside'>;

/** Every HTTP function behind one port, with Lambda's own globals in place. */
export async function openHost({ port, address, beside }: HostPlace, onFailure: OnFailure): Promise<Host> {
  installLambdaRuntime();
  const [text, images, audio, videos, catalog, account, bot, app, content] = await Promise.all([
    import('../lambdas/functions/text.ts'),
    import('../lambdas/functions/images.ts'),
    import('../lambdas/functions/audio.ts'),
    import('../lambdas/functions/videos.ts'),
    import('../lambdas/functions/catalog.ts'),
    import('../lambdas/functions/account.ts'),
    import('../lambdas/functions/bot.ts'),
    import('../lambdas/functions/app.ts'),
    import('../lambdas/functions/content.ts'),
  ]);
  return startHost({
    handlers: {
      text: streaming(text.handler),
      images: streaming(images.handler),
      audio: streaming(audio.handler),
      videos: streaming(videos.handler),
      content: streaming(content.handler),
      catalog: streaming(catalog.handler),
      account: streaming(account.handler),
      bot: streaming(bot.handler),
      app: streaming(app.handler),
    },
    port,
    address,
    beside,
    now: Date.now,
    newRequestId: ulid,
    onCrash: (error) => onFailure(`a handler failed: ${error instanceof Error ? error.stack : error}`),
  });
}

/**
 * What AWS calls every minute. The first run looks after every video that has not ended, since their executions ended with the
 * process that had them.
 */
export async function startSweeping(everyMs: number, onFailure: OnFailure): Promise<() => void> {
  const [{ handler: sweep }, { handler: settleNotes }, lookAfterVideos] = await Promise.all([
    import('../lambdas/functions/sweep.ts'),
    import('../lambdas/functions/outbox.ts'),
    loadVideoSweep(),
  ]);
  const tell = (error: unknown): void => onFailure(`the sweeper failed: ${error}`);
  await lookAfterVideos().catch(tell);
  const timer = setInterval(() => {
    settleNotes().catch(tell).then(sweep).catch(tell);
    lookAfterVideos().catch(tell);
  }, everyMs);
  return () => clearInterval(timer);
}

/** Called with every change of an account. */
export async function loadNotices() {
  const { handler } = await import('../lambdas/functions/notices.ts');
  return handler;
}

async function loadVideoSweep(): Promise<() => Promise<void>> {
  const [{ handler: sweepVideos }, { createResumeAll }, { videoPartsFromEnvironment }] = await Promise.all([
    import('../lambdas/functions/video-sweep.ts'),
    import('../lambdas/functions/wiring/video-sweep-handler.ts'),
    import('../lambdas/functions/wiring/video-parts.ts'),
  ]);
  const resumeAll = createResumeAll(await videoPartsFromEnvironment(process.env));
  let isResumed = false;
  return async () => {
    if (isResumed) return sweepVideos();
    const { failed } = await resumeAll();
    isResumed = failed === 0;
  };
}
