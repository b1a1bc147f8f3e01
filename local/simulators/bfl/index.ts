import type { Wire } from '../wire.ts';
import { bflCreate, bflResult, bflSample } from './images.ts';

export const bflWires: readonly Wire[] = [bflCreate, bflResult, bflSample];
