import { GatewayError } from './errors/gateway-error.ts';

/**
 * State of the maintenance switch (OPS-15). `on`: requests that cost money or change an account are rejected. `paused`:
 * the sweeper, the outbox worker and the video steps do no work either.
 */
export const maintenanceStates = ['off', 'on', 'paused'] as const;

export type MaintenanceState = (typeof maintenanceStates)[number];

/** Switch that all processes of a gateway share. Methods throw StoreError. */
export interface MaintenanceStore {
  /** Returns `off` if the switch was never used. */
  read(): Promise<MaintenanceState>;
  write(state: MaintenanceState): Promise<void>;
}

/** Converts a stored value. A state of a newer release counts as `paused`, the state that changes the least. */
export const toMaintenanceState = (stored: string | undefined): MaintenanceState =>
  stored === undefined ? 'off' : (maintenanceStates.find((state) => state === stored) ?? 'paused');

/** Returns the error of a request that maintenance rejects. */
export const maintenanceError = (): GatewayError =>
  new GatewayError(
    'service_unavailable',
    'The service is in maintenance. Nothing was charged or changed. Retry in 5 minutes.',
    { retryAfterSeconds: 300 },
  );
