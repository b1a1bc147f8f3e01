export type TableName = 'accounts' | 'keys' | 'idempotency' | 'counters' | 'videos';

/** Key attribute of a table or index. DynamoDB needs no declaration of other attributes. */
export type KeyAttribute = { readonly name: string; readonly type: 'S' | 'N' };

export type IndexDescription = {
  /** Name of the index, at least three characters as DynamoDB requires. */
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
  readonly projection: 'ALL' | 'KEYS_ONLY';
};

export type TableDescription = {
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
  readonly indexes: readonly IndexDescription[];
  /**
   * Attribute with the expiry, in seconds since the epoch. DynamoDB may delete items days late, so readers check the
   * expiry too.
   */
  readonly timeToLiveAttribute?: string;
  readonly stream?: 'NEW_AND_OLD_IMAGES';
  readonly pointInTimeRecovery: boolean;
  readonly deletionProtection: boolean;
  readonly removal: 'retain' | 'destroy';
};

/**
 * Descriptions of the tables, for the stacks and for the local emulator. All tables are billed on demand. The names are
 * logical: the stack chooses the physical names.
 */
export const tables: Readonly<Record<TableName, TableDescription>> = {
  accounts: {
    partitionKey: { name: 'pk', type: 'S' },
    sortKey: { name: 'sk', type: 'S' },
    // Sparse index: only accounts with open holds have `sweepAt`, so a sweep does not read the others.
    indexes: [
      {
        name: 'sweep',
        partitionKey: { name: 'shard', type: 'S' },
        sortKey: { name: 'sweepAt', type: 'N' },
        projection: 'KEYS_ONLY',
      },
    ],
    stream: 'NEW_AND_OLD_IMAGES',
    pointInTimeRecovery: true,
    deletionProtection: true,
    removal: 'retain',
  },
  keys: {
    partitionKey: { name: 'pk', type: 'S' },
    indexes: [],
    pointInTimeRecovery: true,
    deletionProtection: true,
    removal: 'retain',
  },
  idempotency: {
    partitionKey: { name: 'pk', type: 'S' },
    indexes: [],
    timeToLiveAttribute: 'expiresAt',
    pointInTimeRecovery: false,
    deletionProtection: false,
    removal: 'destroy',
  },
  counters: {
    partitionKey: { name: 'pk', type: 'S' },
    indexes: [],
    timeToLiveAttribute: 'expiresAt',
    pointInTimeRecovery: false,
    deletionProtection: false,
    removal: 'destroy',
  },
  videos: {
    partitionKey: { name: 'pk', type: 'S' },
    // Sparse indexes: `listedFor` is set on jobs that lists show, `running` on jobs that have not ended.
    indexes: [
      {
        name: 'account',
        partitionKey: { name: 'listedFor', type: 'S' },
        sortKey: { name: 'createdAt', type: 'N' },
        projection: 'ALL',
      },
      {
        name: 'running',
        partitionKey: { name: 'running', type: 'S' },
        sortKey: { name: 'dueAt', type: 'N' },
        projection: 'KEYS_ONLY',
      },
    ],
    pointInTimeRecovery: true,
    deletionProtection: true,
    removal: 'retain',
  },
};

export const tableNames: readonly TableName[] = ['accounts', 'keys', 'idempotency', 'counters', 'videos'];
