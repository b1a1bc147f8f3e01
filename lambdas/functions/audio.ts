import { createAudioHandler } from './wiring/audio-handler.ts';
import { partsFromEnvironment } from './wiring/parts-from-environment.ts';

export const handler = createAudioHandler(await partsFromEnvironment(process.env));
