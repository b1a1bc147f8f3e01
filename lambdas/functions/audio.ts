import { createAudioHandler } from './wiring/audio-handler.ts';
import { partsFromEnvironment } from './wiring/from-environment.ts';

export const handler = createAudioHandler(await partsFromEnvironment(process.env));
