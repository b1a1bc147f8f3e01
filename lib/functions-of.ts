import type { Environment } from './environments.ts';
import type { EventFunctionDescription, WebFunctionDescription } from './function-description.ts';
import { eventFunctionNames, type FunctionName, functions, type WebFunctionName } from './functions.ts';
import { inferenceFunctionNames } from './inference-functions.ts';

export interface EventFunction {
  readonly name: FunctionName;
  readonly description: EventFunctionDescription;
}

export interface WebFunctionOf {
  readonly name: WebFunctionName;
  readonly description: WebFunctionDescription;
}

export interface EnvironmentFunctions {
  readonly events: readonly EventFunction[];
  readonly webs: readonly WebFunctionOf[];
}

/** Where one environment serves everything that costs money, most requests wait for a vendor and weigh little. */
const INFERENCE_CONCURRENCY = 64;

/**
 * The functions that an environment has. API Gateway calls functions with events and nothing else; elsewhere files are served by a
 * Web Function, and inference by one that takes large bodies, or by that one alone.
 */
export const functionsOf = ({ frontDoor, largeBodies, inferenceHost }: Environment): EnvironmentFunctions => {
  const events = eventFunctionNames.map((name) => ({ name, description: functions[name] }));
  const { content, inference } = functions;
  if (frontDoor === 'api-gateway') return { events: [...events, { name: 'content', description: byEvents }], webs: [] };
  const files = { name: 'content', description: content } as const;
  if (inferenceHost === 'web-function') {
    const description = { ...inference, concurrency: INFERENCE_CONCURRENCY };
    return {
      events: events.filter(({ name }) => !inferenceFunctionNames.some((served) => served === name)),
      webs: [files, { name: 'inference', description }],
    };
  }
  return { events, webs: largeBodies === 'off' ? [files] : [files, { name: 'inference', description: inference }] };
};

/** Streams of a function that is called with events end at 200 MB: a larger video is cut off there. */
const byEvents: EventFunctionDescription = {
  ...functions.content,
  entry: 'lambdas/functions/content.ts',
  trigger: 'url',
  memoryMb: 512,
};
