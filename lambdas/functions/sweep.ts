import { partsFromEnvironment } from './wiring/parts-from-environment.ts';
import { createSweepHandler } from './wiring/sweep-handler.ts';

export const handler = createSweepHandler(await partsFromEnvironment(process.env));
