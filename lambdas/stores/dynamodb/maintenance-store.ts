import { type MaintenanceStore, toMaintenanceState } from '../../core/maintenance.ts';
import type { DynamoDB } from './dynamodb.ts';
import { optionalText } from './item.ts';

const KEY = { pk: 'maintenance' };

/**
 * Stores the switch as one item of the counters table, which a restore of the accounts does not replace.
 */
export const createMaintenanceStore = (db: DynamoDB, table: string): MaintenanceStore => ({
  read: async () => {
    const item = await db.get(table, KEY);
    return toMaintenanceState(item && optionalText(item, 'state'));
  },
  write: async (state) => {
    await db.put({ table, item: { ...KEY, state } });
  },
});
