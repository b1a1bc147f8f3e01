import { createHandler } from '../../http/handler.ts';
import { createAudioRoutes } from '../../protocols/audio/handlers.ts';
import { toHttpPorts } from './http-ports.ts';
import { toPaidCallPorts } from './paid-call-ports.ts';
import type { Parts } from './parts.ts';
import { toAudioWires, toWireOptions } from './wires.ts';

export const createAudioHandler = (parts: Parts, http = toHttpPorts(parts)) => {
  const paid = toPaidCallPorts(parts);
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
