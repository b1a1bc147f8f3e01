import type { Route, RouteName } from '../../lambdas/routes.ts';
import type { Operation } from '../operation.ts';
import { toCurl } from './curl.ts';
import { toJavaScriptFetch, toJavaScriptSdk } from './javascript.ts';
import { toPythonRequests, toPythonSdk } from './python.ts';
import { type SampleRequest, sampleRequestOf, streamRequestOf } from './sample-request.ts';
import { sdkCalls } from './sdk-calls.ts';

/** Sample of a route in one language, as `x-codeSamples` of the OpenAPI document lists it. */
export interface CodeSample {
  readonly lang: 'shell' | 'python' | 'javascript';
  readonly label: string;
  readonly source: string;
}

/**
 * Returns the samples of a route: curl, Python and JavaScript for its first example, then the same for its stream, if
 * it has one.
 */
export const codeSamplesOf = (name: RouteName, route: Route, operation: Operation): readonly CodeSample[] => {
  const streamed = streamRequestOf(route, operation);
  return [
    ...samplesFor(name, sampleRequestOf(route, operation), ''),
    ...(streamed ? samplesFor(name, streamed, ', stream') : []),
  ];
};

const samplesFor = (name: RouteName, request: SampleRequest, suffix: string): readonly CodeSample[] => {
  const call = sdkCalls[name];
  return [
    { lang: 'shell', label: `curl${suffix}`, source: toCurl(request) },
    {
      lang: 'python',
      label: `Python${suffix}`,
      source: call ? toPythonSdk(request, call) : toPythonRequests(request),
    },
    {
      lang: 'javascript',
      label: `JavaScript${suffix}`,
      source: call ? toJavaScriptSdk(request, call) : toJavaScriptFetch(request),
    },
  ];
};
