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
 * Web Function, and inference by one that takes large bodies, or by that one alone. Behind CloudFront whatever may serve inference stands
 * even if nothing leads to it, which costs nothing: the edge changes after the functions do, and leads to the former ones until then.
 */
export const functionsOf = ({ frontDoor, largeBodies, inferenceHost }: Environment): EnvironmentFunctions => {
  const events = eventFunctionNames.map((name) => ({ name, description: functions[name] }));
  const { content, inference } = functions;
  if (frontDoor === 'api-gateway') return { events: [...events, { name: 'content', description: byEvents }], webs: [] };
  const files = { name: 'content', description: content } as const;
  const servesAll = inferenceHost === 'web-function';
  if (frontDoor === 'none' && largeBodies === 'off' && !servesAll) return { events, webs: [files] };
  const description = servesAll ? { ...inference, concurrency: INFERENCE_CONCURRENCY } : inference;
  return { events, webs: [files, { name: 'inference', description }] };
};

/** Who is given the requests of a function: itself, or the one that serves inference alone. */
export const hostOf = ({ inferenceHost }: Environment, name: FunctionName): FunctionName =>
  inferenceHost === 'web-function' && inferenceFunctionNames.some((served) => served === name) ? 'inference' : name;

/** Streams of a function that is called with events end at 200 MB: a larger video is cut off there. */
const byEvents: EventFunctionDescription = {
  ...functions.content,
  entry: 'lambdas/functions/content.ts',
  trigger: 'url',
  memoryMb: 512,
};
