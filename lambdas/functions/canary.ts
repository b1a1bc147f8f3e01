import { canaryDependenciesFromEnvironment, createCanaryHandler } from './wiring/canary-handler.ts';

export const handler = createCanaryHandler(canaryDependenciesFromEnvironment(process.env));
