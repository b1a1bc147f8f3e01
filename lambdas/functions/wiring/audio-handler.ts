import { createHandler } from '../../http/handler.ts';
import { createAudioRoutes } from '../../protocols/audio/handlers.ts';
import type { Parts } from './dependencies.ts';
import { toProcessPorts } from './paid-call.ts';
import { toAudioWires, toWireOptions } from './wires.ts';

export const createAudioHandler = (parts: Parts, { http, paid } = toProcessPorts(parts)) => {
  const wires = toAudioWires(toWireOptions(parts));
  return createHandler(
    http,
    createAudioRoutes({
      transcription: { ...paid, wires: wires.transcription },
      speech: { ...paid, wires: wires.speech },
      finished: parts.reporting.finished,
    }),
  );
};
