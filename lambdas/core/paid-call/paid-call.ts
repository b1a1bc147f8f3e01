import type { Passage } from '../circuit/circuit.ts';
import type { Settlement } from './settle.ts';

/** A call under way: what it is charged by, and the circuit it went through. */
export interface PaidCall extends Settlement {
  readonly passage: Passage;
}
