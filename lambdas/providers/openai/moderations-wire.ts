import type { ModerationWire } from '../../core/inputs/moderate.ts';
import type { WireOptions } from '../vendor-call.ts';
import { createInputWire } from './input-wire.ts';

/**
 * https://developers.openai.com/api/reference/resources/moderations/methods/create. The vendor gives the service away and counts
 * nothing.
 */
export const createModerationWire = (options: WireOptions): ModerationWire =>
  createInputWire(options, { path: '/moderations', holds: 'results', toUsage: () => undefined });
