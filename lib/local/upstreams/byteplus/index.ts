import type { Wire } from '../wire.ts';
import { byteplusFile } from './files.ts';
import { byteplusCreateTask, byteplusTask } from './tasks.ts';

export const byteplusWires: readonly Wire[] = [byteplusCreateTask, byteplusTask, byteplusFile];
