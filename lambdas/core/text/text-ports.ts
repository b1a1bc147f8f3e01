import type { Wire } from '../catalog/providers.ts';
import type { PaidCallPorts } from '../paid-call/dependencies.ts';
import type { TextWire } from './text-wire.ts';

export interface TextPorts extends PaidCallPorts {
  readonly wires: ReadonlyMap<Wire, TextWire>;
}
