import type { VendorRefusal } from '../wire.ts';
import { contextLengthError } from './error.ts';

export function isReasoningModel(model: string): boolean {
  return /^gpt-[56]/.test(model);
}

/** Models whose reasoning cannot be disabled. */
export function reasonsAlways(model: string): boolean {
  return /^gpt-6(-astra|\.1-sol|\.2-)/.test(model) || isProModel(model);
}

/** Served on `/v1/responses` alone, with at least medium effort. */
export function isProModel(model: string): boolean {
  return /^gpt-5[.\d]*-pro/.test(model);
}

const snapshots: Readonly<Record<string, string>> = {
  'gpt-4.1': 'gpt-4.1-2025-04-14',
  'gpt-4.1-mini': 'gpt-4.1-mini-2025-04-14',
  'omni-moderation-latest': 'omni-moderation-2024-09-26',
};

/** Returns the snapshot that the provider reports for a model name. */
export function snapshotOf(model: string): string {
  return snapshots[model] ?? model;
}

/** The mini models have the smaller window; the rest of the family shares the larger one. */
export function contextWindow(model: string): number {
  return /^gpt-5.*mini/.test(model) ? 400_000 : 1_047_576;
}

export function refuseTooLong(model: string, promptTokens: number): VendorRefusal | undefined {
  const limit = contextWindow(model);
  return promptTokens > limit ? contextLengthError('messages', limit, promptTokens) : undefined;
}
