import type { Circuits } from '../../../lambdas/core/circuit/circuit.ts';

/** Circuits that never open, and tell what they were told. */
export const freePassage = (reports: string[] = []): Circuits => ({
  look: () => undefined,
  enter: async ({ modelId }) => {
    let told = false;
    return {
      kind: 'passage',
      report: async (outcome) => {
        if (!told) reports.push(`${modelId} ${outcome}`);
        told = true;
      },
      begun: async () => undefined,
    };
  },
  usageMissing: async (modelId) => void reports.push(`${modelId} without usage`),
});
