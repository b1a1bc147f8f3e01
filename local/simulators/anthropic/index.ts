import type { Wire } from '../wire.ts';
import { anthropicCountTokens, anthropicMessages } from './messages.ts';
import { anthropicModel, anthropicModels } from './models.ts';

export const anthropicWires: readonly Wire[] = [
  anthropicMessages,
  anthropicCountTokens,
  anthropicModels,
  anthropicModel,
];
