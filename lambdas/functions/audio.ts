import { createAudioHandler } from './wiring/audio-handler.ts';
import { dependenciesFromEnvironment } from './wiring/from-environment.ts';

export const handler = createAudioHandler(await dependenciesFromEnvironment(process.env));
