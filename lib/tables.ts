export type TableName = 'accounts' | 'keys' | 'idempotency' | 'counters' | 'videos';

/** Key attributes only: DynamoDB wants no other attribute declared. */
export type KeyAttribute = { readonly name: string; readonly type: 'S' | 'N' };

export type IndexDescription = {
  /** Three letters or more: shorter names are refused by DynamoDB. */
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
  readonly projection: 'ALL' | 'KEYS_ONLY';
};

export type TableDescription = {
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
  readonly indexes: readonly IndexDescription[];
  /** Seconds since the epoch. It only cleans up, days late at times: whoever reads an item checks its expiry as well. */
  readonly timeToLiveAttribute?: string;
  readonly stream?: 'NEW_AND_OLD_IMAGES';
  readonly pointInTimeRecovery: boolean;
  readonly deletionProtection: boolean;
  readonly removal: 'retain' | 'destroy';
};

/**
 * What each table looks like, once, for the stacks that deploy it and for the stand-in that imitates it. All of them are
 * billed on demand. The names are logical: in AWS the physical name is the stack's affair.
 */
export const tables: Readonly<Record<TableName, TableDescription>> = {
  accounts: {
    partitionKey: { name: 'pk', type: 'S' },
    sortKey: { name: 'sk', type: 'S' },
    // Sparse: only an account with open holds carries `sweepAt`, so a sweep reads nothing of the idle ones.
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
    // Both sparse: `listedFor` is on jobs that lists may show, `running` on those that have not ended.
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
