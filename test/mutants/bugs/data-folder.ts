import { bugsIn, type MoneyBug } from './money-bug.ts';

const databaseTests = 'test/local/stores/sqlite/database.test.ts';
const databaseBugs = bugsIn('local/stores/sqlite/database.ts', databaseTests, [
  {
    id: 'durable-with-the-sync-before',
    what: 'A write during a sync counts as durable when that sync ends, although the sync does not cover it.',
    find: 'while (this.#syncedCommits < target) {',
    replace: 'if (this.#syncedCommits < target) {',
  },
  {
    id: 'sync-covers-later-commits',
    what: 'A sync also counts for commits made while it ran.',
    find: 'this.#syncedCommits = covered;',
    replace: 'this.#syncedCommits = this.#commits;',
  },
  {
    id: 'failed-sync-is-durable',
    what: 'The gateway returns a response whose charge the disk did not confirm.',
    find: "throw new StoreError('unavailable', 'the disk did not confirm a write', error);",
    replace: 'this.#syncedCommits = covered;',
  },
  {
    id: 'failed-sync-repeated',
    what: 'The gateway repeats a failed sync, which then succeeds although the disk lost the pages.',
    find: '      this.#needsCheckpoint = true;\n',
    replace: '',
  },
  {
    id: 'broken-checkpoint-is-durable',
    what: 'A checkpoint that a reader blocked counts as complete after a failed sync.',
    find: "    if (result?.busy !== 0n) throw new Error('the checkpoint did not complete');\n",
    replace: '',
  },
  {
    id: 'foreign-commits-not-synced',
    what: 'A client sees data of another process before the disk has it.',
    find: '    this.#foreignCommits += 1;\n    this.#commits += 1;',
    replace: '    this.#foreignCommits += 1;',
  },
  {
    id: 'read-before-its-sync',
    what: 'A client sees data that a power cut can still undo.',
    find: 'await this.#retry(query);\n    await this.durable();',
    replace: 'await this.#retry(query);',
    caughtBy: 'test/local/stores/sqlite/database-durability.test.ts',
  },
  {
    id: 'durable-write-without-a-sync',
    what: 'No charge waits for the disk.',
    find: 'await this.write(work);\n    await this.durable();',
    replace: 'await this.write(work);',
    caughtBy: 'test/local/stores/sqlite/database-durability.test.ts',
  },
  {
    id: 'failed-transaction-committed',
    what: 'A failed transaction keeps its earlier writes, such as a credit without its record.',
    find: 'if (this.#db.isTransaction) this.#rollback.run();',
    replace: 'if (this.#db.isTransaction) this.#commit.run();',
  },
  {
    id: 'unknown-outcome-repeated',
    what: 'The gateway repeats a write whose outcome is unknown.',
    find: 'if (!isLocked(code) || performance.now() >= endsAtMs) throw toStoreError(error, code);',
    replace: 'if (performance.now() >= endsAtMs) throw toStoreError(error, code);',
    caughtBy: 'test/local/stores/sqlite/database-unknown-outcome.test.ts',
  },
  {
    id: 'shared-unknown-outcome-repeated',
    what: 'The gateway repeats writes that shared a transaction whose outcome is unknown.',
    find: 'if (isUndone) alone();',
    replace: 'if (isUndone || code) alone();',
    caughtBy: 'test/local/stores/sqlite/database-unknown-outcome.test.ts',
  },
  {
    id: 'unknown-outcome-is-certain',
    what: 'The gateway reports that a failed write changed nothing, although it may have.',
    find: "isCertain ? 'conflict' : 'unavailable'",
    replace: "'conflict'",
    caughtBy: 'test/local/stores/sqlite/database-unknown-outcome.test.ts',
  },
  {
    id: 'locked-database-is-unknown',
    what: 'The gateway treats a locked database as a lost one, and abandons a hold that it could retry.',
    find: 'const isCertain = isLocked(code) || ',
    replace: 'const isCertain = ',
  },
  {
    id: 'full-disk-keeps-its-reserve',
    what: 'A charge fails on a full disk although space is reserved for it.',
    find: 'if (code === FULL && mayFreeSpace && this.#options.onFull?.()) {',
    replace: 'if (code === LOCKED && mayFreeSpace && this.#options.onFull?.()) {',
  },
  {
    id: 'full-disk-is-unknown',
    what: 'A write that a full disk rejected counts as uncertain.',
    find: 'isLocked(code) || code === FULL || code === READONLY',
    replace: 'isLocked(code) || code === READONLY',
  },
  {
    id: 'checkpoint-without-a-sync',
    what: 'SQLite does not sync a checkpoint, and a power cut damages the database.',
    find: "'PRAGMA synchronous = NORMAL'",
    replace: "'PRAGMA synchronous = OFF'",
    caughtBy: 'test/local/stores/sqlite/database-unknown-outcome.test.ts',
  },
  {
    id: 'database-readable-by-others',
    what: 'Other users of the machine can read balances and prompts.',
    find: "openSync(path, 'a', 0o600)",
    replace: "openSync(path, 'a', 0o644)",
  },
]);

const databaseFileTests = 'test/local/stores/sqlite/database-file.test.ts';
const databaseFileBugs = bugsIn('local/stores/sqlite/database-file.ts', databaseFileTests, [
  {
    id: 'newer-schema-opened',
    what: 'An older program writes to a database of a newer one.',
    find: 'if (version > SCHEMA_VERSION) {',
    replace: 'if (version > SCHEMA_VERSION + 1) {',
  },
]);

const fileTests = 'test/local/stores/files/atomic-files.test.ts';
const powerCutTests = 'test/local/embedded-stores-power-cut.long.test.ts';
const storeTests = 'test/local/stores/files/file-stores.test.ts';
const fileBugs = [
  ...bugsIn('local/stores/files/atomic-files.ts', fileTests, [
    {
      id: 'file-written-in-place',
      what: 'A reader sees half of an outbox entry.',
      find: 'const draft = join(',
      replace: 'const draft = path || join(',
    },
    {
      id: 'file-not-synced',
      what: 'A power cut leaves an empty outbox entry.',
      find: '      await this.#attempt(() => this.#sync.file(file, path));\n',
      replace: '',
    },
    {
      id: 'file-name-not-synced',
      what: 'A power cut loses an outbox entry whose request was answered.',
      find: '      throw error;\n    }\n    await this.#syncFolder();',
      replace: '      throw error;\n    }',
    },
    {
      id: 'folder-name-not-synced',
      what: 'A power cut loses the outbox with all its entries, because the disk never had the name of its folder.',
      find: '      await files.#sync.folder(dirname(folder));\n',
      replace: '',
      caughtBy: powerCutTests,
    },
    {
      id: 'removal-not-synced',
      what: 'After a power cut, a settled outbox entry exists again.',
      find: '    // Syncs even if the file was missing, because the sync of an earlier remove may have failed.\n    await this.#syncFolder();\n',
      replace: '',
    },
    {
      id: 'failed-name-sync-is-certain',
      what: 'The gateway releases the hold of a request whose outbox entry is on the disk after all.',
      find: "throw this.#toStoreError(error, 'unavailable');",
      replace: "throw this.#toStoreError(error, 'conflict');",
    },
    {
      id: 'full-disk-refuses-an-entry',
      what: 'An outbox entry fails on a full disk although space is reserved for it.',
      find: 'if (!isFull || !this.#options.onFull?.()) throw error;',
      replace: 'throw error;',
    },
    {
      id: 'draft-of-a-living-process-removed',
      what: 'A starting process removes the outbox entry that another process is writing.',
      find: 'return Number.parseInt(identity, 10) > 0 && !isRunning(identity);',
      replace: 'return Number.parseInt(identity, 10) > 0;',
    },
    {
      id: 'file-readable-by-others',
      what: 'Other users of the machine can read stored responses.',
      find: "fs.open(path, 'wx', 0o600)",
      replace: "fs.open(path, 'wx', 0o644)",
    },
  ]),
  ...bugsIn(
    'local/stores/files/file-names.ts',
    [fileTests, 'test/local/stores/files/file-names.test.ts'],
    [
      {
        id: 'draft-listed',
        what: 'The outbox worker reads an entry that is still being written.',
        find: 'return toFileName(name) === fileName ? name : undefined;',
        replace: 'return name;',
      },
      {
        id: 'file-outside-its-folder',
        what: 'A name with a slash puts a response outside its folder.',
        find: '/[^A-Za-z0-9_.-]|',
        replace: '/[^A-Za-z0-9_./-]|',
      },
    ],
  ),
  ...bugsIn('local/stores/files/file-stores.ts', storeTests, [
    {
      id: 'entry-before-its-hold',
      what: 'A power cut leaves an outbox entry without its hold, and the charge is lost.',
      find: '    await holdsDurable();\n',
      replace: '',
    },
    {
      id: 'outbox-expires',
      what: 'The gateway removes charges that are in the outbox for two days.',
      find: 'for (const files of [answers, media, videos])',
      replace: 'for (const files of [outbox, answers, media, videos])',
    },
    {
      id: 'files-folder-name-not-synced',
      what: 'A power cut loses the outbox and all stored responses, because the disk never had the name of their folder.',
      find: '  await (options.sync ?? diskSync).folder(dirname(options.folder));\n',
      replace: '',
      caughtBy: powerCutTests,
    },
    {
      id: 'media-expires-early',
      what: 'The gateway removes paid images and videos while their URLs are valid.',
      find: '2 * 24 * 60 * 60 * 1_000',
      replace: '24 * 60 * 60 * 1_000',
    },
    {
      id: 'responses-in-the-outbox',
      what: 'Stored responses and outbox entries share a folder, and the worker treats a response as a charge.',
      find: "open('answers')",
      replace: "open('outbox')",
      caughtBy: 'test/contracts/object-stores.contract.test.ts',
    },
  ]),
];

const diskBugs = bugsIn('local/stores/disk-space.ts', 'test/local/stores/disk-space.test.ts', [
  {
    id: 'reserve-not-freed',
    what: 'The gateway reports freed space but keeps the reserved space.',
    find: '    rmSync(this.#reservePath, { force: true });\n',
    replace: '',
  },
  {
    id: 'hold-without-space-for-its-charge',
    what: 'The gateway places holds on an almost full disk as long as reserved space is left.',
    find: 'this.#freeBytes < FREE_BYTES_MIN || !this.#hasReserve',
    replace: '!this.#hasReserve',
  },
  {
    id: 'hold-without-a-reserve',
    what: 'The gateway places holds after the reserved space was freed, without space for their charges.',
    find: 'this.#freeBytes < FREE_BYTES_MIN || !this.#hasReserve',
    replace: 'this.#freeBytes < FREE_BYTES_MIN',
  },
  {
    id: 'reserve-fills-the-disk',
    what: 'Reserving space uses the last free bytes, and the gateway rejects every hold.',
    find: 'this.#freeBytes < FREE_BYTES_MIN + RESERVE_BYTES) return',
    replace: 'this.#freeBytes < FREE_BYTES_MIN) return',
  },
]);

export const dataFolderBugs: readonly MoneyBug[] = [...databaseBugs, ...databaseFileBugs, ...fileBugs, ...diskBugs];
