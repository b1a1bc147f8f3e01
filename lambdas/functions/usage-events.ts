import { createUsageEventsHandler, usageEventsDependenciesFromEnvironment } from './wiring/usage-events-handler.ts';

export const handler = createUsageEventsHandler(usageEventsDependenciesFromEnvironment(process.env));
