import type { MaintenanceState, MaintenanceStore } from '../../../lambdas/core/maintenance.ts';

export class MemoryMaintenanceStore implements MaintenanceStore {
  #state: MaintenanceState = 'off';

  async read(): Promise<MaintenanceState> {
    return this.#state;
  }

  async write(state: MaintenanceState): Promise<void> {
    this.#state = state;
  }
}
