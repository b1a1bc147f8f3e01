import type { Wire } from '../wire.ts';
import { byteplusFile } from './files.ts';
import { byteplusDraw, byteplusDrawnFile } from './images-draw.ts';
import { byteplusCreateTask, byteplusTask } from './tasks.ts';

export const byteplusWires: readonly Wire[] = [
  byteplusCreateTask,
  byteplusTask,
  byteplusFile,
  byteplusDraw,
  byteplusDrawnFile,
];
