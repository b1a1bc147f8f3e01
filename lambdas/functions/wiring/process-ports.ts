import type { PaidCallPorts } from '../../core/paid-call/dependencies.ts';
import type { HttpPorts } from '../../http/handler.ts';
import { toHttpPorts } from './http-ports.ts';
import { toPaidCallPorts } from './paid-call-ports.ts';
import type { Parts } from './parts.ts';

/** What all handlers of one process share: its limits, its budget of bodies, its circuits and its drains. */
export interface ProcessPorts {
  readonly http: HttpPorts;
  readonly paid: PaidCallPorts;
}

export const toProcessPorts = (parts: Parts): ProcessPorts => ({
  http: toHttpPorts(parts),
  paid: toPaidCallPorts(parts),
});
