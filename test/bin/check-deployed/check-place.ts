import type { Place } from '../../../bin/place.ts';
import type { AwsStores } from '../../../bin/stores.ts';
import { type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { MemoryMaintenanceStore } from '../../support/memory/memory-maintenance-store.ts';
import { MemoryOperationLog } from '../../support/memory/memory-operation-log.ts';

/** Opens the stores of a gateway of this process as a deployed environment for the command line. */
export const openCheckPlace = async () => {
  const gateway = await startInProcess({ vendorUrl: undefined });
  const operations = new MemoryOperationLog();
  return { gateway, operations, place: placeOf(gateway, operations) };
};

const placeOf = ({ deps, pepper }: InProcessGateway, operations: MemoryOperationLog): Place => {
  const unused = (): never => {
    throw new Error('the check reads no table by its name');
  };
  // A deployed environment has AWS stores, so its pepper comes from the variables.
  const aws = { table: unused } as unknown as AwsStores;
  const { ledgerStore: ledger, ledgerRecords: records, accounts, keys, videoJobs, outbox, videoFiles } = deps;
  const close = async (): Promise<void> => undefined;
  const stores = { ledger, records, operations, accounts, keys, videoJobs, outbox, videoFiles, aws, close };
  return {
    where: 'the gateway of this test',
    isLocal: false,
    environment: { KEY_PEPPER: pepper },
    dataFolder: '/nonexistent',
    stores: {
      ...stores,
      outboxHistory: undefined,
      maintenance: new MemoryMaintenanceStore(),
      problems: async () => [],
    },
    close,
  };
};
