import type { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { createBflWire } from '../../../../lambdas/providers/bfl/images-wire.ts';
import { drawingWorld } from '../drawing-world.ts';
import type { Answer } from '../video-wire-world.ts';

export const baseUrl = 'https://api.bfl.ai';
export const pollingUrl = 'https://api.us1.bfl.ai/v1/get_result?id=8d7f0e32';
export const sample = 'https://delivery-us1.bfl.ai/results/a1/sample.jpeg?se=2026-11-20&sig=a%2Bb';

/** Response to a creation, as in https://docs.bfl.ai, with invented URLs. */
export const creation = { id: '8d7f0e32', polling_url: pollingUrl, cost: 4.5, input_mp: 1, output_mp: 1.05 };

export const result = (status: string, more: object = {}): Answer => ({
  body: { id: '8d7f0e32', status, result: null, progress: null, details: null, preview: null, ...more },
});

export const pending = result('Pending');
export const ready = result('Ready', { result: { sample, prompt: 'A cat', seed: 42, duration: 3.5 } });

export const bflWorld = (...answers: readonly (Answer | GatewayError)[]) =>
  drawingWorld({ modelId: 'flux-2-pro', baseUrl, create: createBflWire }, ...answers);

/** A job that was started, with the responses to its polls. */
export const begun = (...answers: readonly (Answer | GatewayError)[]) => bflWorld({ body: creation }, ...answers);
