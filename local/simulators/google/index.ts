import type { Wire } from '../wire.ts';
import { googleCountTokens } from './count-tokens.ts';
import { googleGenerate } from './generate.ts';
import { googleModelWires } from './models.ts';

/** Google's Gemini API. */
export const googleWires: readonly Wire[] = [googleGenerate, googleCountTokens, ...googleModelWires];
