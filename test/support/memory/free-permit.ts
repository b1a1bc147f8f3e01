import type { Circuits } from '../../../lambdas/core/circuit/circuit.ts';

/** Returns circuits that never open and add their outcomes to `reports`. */
export const freePassage = (reports: string[] = []): Circuits => ({
  peek: () => undefined,
  acquire: async ({ modelId }) => {
    let told = false;
    return {
      kind: 'permit',
      report: async (outcome) => {
        if (!told) reports.push(`${modelId} ${outcome}`);
        told = true;
      },
      started: async () => undefined,
    };
  },
  usageMissing: async (modelId) => void reports.push(`${modelId} without usage`),
});
