import { createHandler } from '../../http/handler.ts';
import { createAudioRoutes } from '../../protocols/audio/handlers.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toAudioWires } from './media-wires.ts';
import { toProcessDependencies } from './paid-call.ts';
import { toWireOptions } from './wire-options.ts';

export const createAudioHandler = (deps: FunctionDependencies, { http, paid } = toProcessDependencies(deps)) => {
  const wires = toAudioWires(toWireOptions(deps));
  return createHandler(
    http,
    createAudioRoutes({
      transcription: { ...paid, wires: wires.transcription },
      speech: { ...paid, wires: wires.speech },
      finished: deps.reporting.finished,
    }),
  );
};
