import { bugsIn, type MoneyBug } from './money-bug.ts';

const sharedTests = 'test/local/data-folder-shared.test.ts';
const folderBugs = [
  ...bugsIn('local/data-folder.ts', 'test/local/data-folder.test.ts', [
    {
      id: 'secret-of-the-slower-process',
      what: 'Two processes that start together use two peppers. After a restart, the API keys of one are unknown.',
      find: 'linkSync(draft, path);',
      replace: 'writeFileSync(path, readFileSync(draft), { mode: 0o600 });',
      caughtBy: sharedTests,
    },
    {
      id: 'secret-made-again',
      what: 'A start replaces the pepper, and no API key is valid.',
      find: '  if (!existsSync(path)) {\n    const draft',
      replace: '  rmSync(path, { force: true });\n  {\n    const draft',
    },
    {
      id: 'secret-readable-by-others',
      what: 'Other users of the machine can read the pepper.',
      find: 'writeFileSync(draft, make(), { mode: 0o600, flush: true });',
      replace: 'writeFileSync(draft, make(), { mode: 0o644, flush: true });',
    },
    {
      id: 'empty-secret-used',
      what: 'The gateway hashes API keys with an empty pepper.',
      find: "if (secret === '') throw",
      replace: 'if (secret === undefined) throw',
    },
    {
      id: 'exclusive-folder-joined',
      what: 'A second process opens a data folder that a reset is emptying.',
      find: 'if (holder === undefined) return toDataFolder(path, close);',
      replace: 'if (holder === undefined || holder > 0) return toDataFolder(path, close);',
    },
    {
      id: 'shared-folder-reset',
      what: 'A reset removes the database of a running gateway.',
      find: 'if (pid === undefined) return toDataFolder(path, close);',
      replace: 'if (pid === undefined || pid > 0) return toDataFolder(path, close);',
    },
  ]),
  ...bugsIn('local/folder-lock.ts', 'test/local/data-folder.test.ts', [
    {
      id: 'lock-taken-from-the-living',
      what: 'Two processes lock one data folder.',
      find: 'if (holder !== undefined) throw',
      replace: 'if (holder === 0) throw',
    },
  ]),
];

const identityBugs = bugsIn(
  'local/process-identity.ts',
  ['test/local/data-folder.test.ts', 'test/local/data-folder-shared.test.ts'],
  [
    {
      id: 'ended-process-keeps-the-folder',
      what: 'A process that was killed keeps its data folder in use after another process has its pid.',
      find: 'processIdentity(pid) === identity || isElsewhere(identity)',
      replace: 'processIdentity(pid) !== undefined || isElsewhere(identity)',
    },
    {
      id: 'other-container-taken-for-ended',
      what: 'A reset in one container removes the database of a gateway in another one.',
      find: 'processIdentity(pid) === identity || isElsewhere(identity)',
      replace: 'processIdentity(pid) === identity',
    },
  ],
);

const leaseBugs = bugsIn('local/stores/sqlite/video-leases.ts', 'test/local/stores/sqlite/video-leases.test.ts', [
  {
    id: 'video-run-by-two-processes',
    what: 'Two gateways on one data folder run one video at the same time.',
    find: 'OR runner = ?2 OR',
    replace: 'OR runner <> ?2 OR',
  },
  {
    id: 'video-of-an-ended-process-left',
    what: 'The next gateway does not resume a video of a killed one, and releases it without a charge.',
    find: '(leased_until <= ?1 OR',
    replace: '(leased_until < 0 * ?1 OR',
  },
  {
    id: 'lease-of-another-process-renewed',
    what: 'The lease of a gateway that was killed never ends.',
    find: 'due_at IS NOT NULL AND runner = ?',
    replace: 'due_at IS NOT NULL AND runner IS NOT ?',
  },
]);

const modeBugs = [
  ...bugsIn('local/embedded-engine.ts', 'test/local/embedded-engine.test.ts', [
    {
      id: 'development-on-production-data',
      what: 'A start without MODE opens an account with free credit in the database of a production gateway.',
      find: 'if (claimed) return;',
      replace: 'if (claimed || MODE) return;',
    },
  ]),
  ...bugsIn('local/local-account.ts', 'test/local/local-account.test.ts', [
    {
      id: 'lost-pepper-replaced',
      what: 'A gateway that has lost its pepper creates a new one, and no API key is valid.',
      find: "hasRoom(folder.path, 'database')",
      replace: "hasRoom(folder.path, 'media')",
    },
    {
      id: 'revoked-local-key-replaced',
      what: 'After the local API key was revoked, the start shows the revoked key as a newer one.',
      find: "if (!current || current.isRevoked) return { kind: 'revoked' };",
      replace: "if (!current) return { kind: 'revoked' };",
    },
  ]),
];

const backupBugs = bugsIn('local/backup.ts', 'test/local/backup-contents.test.ts', [
  {
    id: 'backup-outbox-before-the-database',
    what: 'A backup misses the charges that were put into the outbox while the database was copied.',
    find: "for (const name of ['outbox', 'answers', 'media', 'videos']) await copy(name);",
    replace: "for (const name of ['answers', 'media', 'videos']) await copy(name);",
  },
  {
    id: 'backup-outbox-after-the-database',
    what: 'A backup misses the charges that left the outbox while the database was copied.',
    find: "  await copy('outbox');\n",
    replace: '',
  },
  {
    id: 'backup-readable-by-others',
    what: 'Other users of the machine can read the database in a backup.',
    find: '  await chmod(path, 0o600);\n',
    replace: '',
  },
  {
    id: 'backup-with-drafts',
    what: 'A backup contains partly written files.',
    find: "if (!name.startsWith('.')) await",
    replace: 'await',
  },
  {
    id: 'backup-without-secrets',
    what: 'A restored backup has a new pepper, and no API key is valid.',
    find: "  await copyFolder(folder.room('secrets'), join(to, 'secrets'));\n",
    replace: '',
    caughtBy: 'test/local/backup.test.ts',
  },
  {
    id: 'backup-into-an-older-one',
    what: 'A backup into the folder of an older one keeps the older outbox entries.',
    find: 'await mkdir(to, { mode: 0o700 }).catch(',
    replace: 'await mkdir(to, { recursive: true, mode: 0o700 }).catch(',
    caughtBy: 'test/local/backup.test.ts',
  },
  {
    id: 'broken-backup-kept',
    what: 'A failed backup looks complete.',
    find: '    await rm(to, { recursive: true, force: true });\n',
    replace: '',
  },
]);

const proxyBugs = bugsIn('local/trusted-proxies.ts', 'test/local/trusted-proxies.test.ts', [
  {
    id: 'client-ip-chosen-by-the-client',
    what: 'The gateway uses the left-most address of the header, which the client writes, and limits no client.',
    find: 'of entries.reverse())',
    replace: 'of entries)',
  },
  {
    id: 'header-of-any-peer',
    what: 'The gateway reads the forwarding header of a peer that is not a trusted proxy.',
    find: '      if (!isTrusted(proxies, client)) break;\n',
    replace: '',
  },
  {
    id: 'bad-address-skipped',
    what: 'A client hides its IP address behind an entry that is not an address.',
    find: 'if (!next) return peer.toString();',
    replace: 'if (!next) continue;',
  },
  {
    id: 'every-peer-is-a-proxy',
    what: 'The gateway accepts a list of proxies that trusts every client.',
    find: 'if (bits === 0) throw',
    replace: 'if (bits < 0) throw',
  },
]);

const settingBugs = bugsIn('local/local-settings.ts', 'test/local/local-settings.test.ts', [
  {
    id: 'start-credit-in-production',
    what: 'A gateway in production gives every new account 1 USD.',
    find: "(isProduction ? '0' : '1')",
    replace: "'1'",
  },
  {
    id: 'development-on-the-network',
    what: 'Other machines can use the free credit of a gateway in development.',
    find: "ipaddr.process(HOST).range() === 'loopback'",
    replace: "ipaddr.process(HOST).range() !== 'unspecified'",
  },
  {
    id: 'top-ups-under-no-secret',
    what: 'A gateway in production starts without the secret of the payment provider.',
    find: "fields.TOP_UP_KEY === undefined && fields.CREDITS === 'on'",
    replace: "fields.TOP_UP_KEY === undefined && fields.CREDITS === 'off'",
  },
]);

const gatewayBugs = bugsIn('local/gateway.ts', 'test/local/gateway.test.ts', [
  {
    id: 'simulated-providers-in-production',
    what: 'A gateway in production sells the output of simulated providers.',
    find: 'isProduction ? undefined : await openDevelopment(',
    replace: 'await openDevelopment(',
  },
  {
    id: 'development-account-in-production',
    what: 'A gateway in production opens the development account with its free credit and prints its API key.',
    find: 'const account = isProduction\n    ? undefined\n    : await',
    replace: 'const account = await',
  },
  {
    id: 'top-up-secret-made-in-production',
    what: 'A gateway in production creates a payment secret that no payment provider has.',
    find: 'settings.TOP_UP_KEY ?? (isProduction ? undefined : readOrCreateTopUpKey(folder))',
    replace: 'settings.TOP_UP_KEY ?? readOrCreateTopUpKey(folder)',
  },
  {
    id: 'credits-not-off',
    what: 'A gateway with CREDITS=off accepts payments.',
    find: "settings.CREDITS === 'on' ? topUpKey : ''",
    replace: 'topUpKey',
  },
  {
    id: 'header-of-no-proxy-list',
    what: 'The local program ignores the list of proxies, and all their clients share one rate limit.',
    find: 'sourceIp: createClientIp(TRUST_PROXY),',
    replace: 'sourceIp: createClientIp([]),',
  },
]);

const wiringBugs = [
  ...bugsIn('local/embedded-stores.ts', 'test/local/embedded-stores-wiring.test.ts', [
    {
      id: 'database-without-the-reserve',
      what: 'The database does not free the reserved space on a full disk.',
      find: ', onFull });\n  const files',
      replace: ' });\n  const files',
    },
    {
      id: 'ledger-without-the-disk-check',
      what: 'The embedded ledger does not know that the disk is almost full.',
      find: 'createLedgerStore(db, { onChange, checkRoom: () => disk.checkRoom() })',
      replace: 'createLedgerStore(db, { onChange })',
    },
    {
      id: 'outbox-without-durable-holds',
      what: 'The outbox does not wait until the disk has the holds.',
      find: 'holdsDurable: () => db.durable()',
      replace: 'holdsDurable: async () => undefined',
    },
    {
      id: 'full-disk-is-healthy',
      what: 'The health check reports success while the gateway rejects every hold.',
      find: "['disk_space']",
      replace: '[]',
    },
    {
      id: 'files-never-removed',
      what: 'The gateway keeps every stored response and video, until the disk is full.',
      find: '      await files.removeExpired(nowMs);\n',
      replace: '',
    },
  ]),
  ...bugsIn('local/embedded-engine.ts', 'test/local/embedded-engine.test.ts', [
    {
      id: 'notifications-forgotten-with-a-bot',
      what: 'The gateway removes low-balance notifications that its bot has not sent yet.',
      find: 'if (deps.secrets.botToken === undefined) await forgetLowBalances',
      replace: 'await forgetLowBalances',
    },
  ]),
  ...bugsIn('local/health.ts', 'test/local/health.test.ts', [
    {
      id: 'failed-check-is-healthy',
      what: 'A health check that throws counts as healthy.',
      find: "catch(() => ['check_failed'])",
      replace: 'catch(() => [])',
    },
  ]),
  ...bugsIn('local/video-executions.ts', 'test/local/video-executions.test.ts', [
    {
      id: 'video-started-twice',
      what: 'Every start of a video creates another execution, and all of them poll and settle the same video.',
      find: 'executions.find(videoId) ?? executions.start',
      replace: 'executions.start',
    },
    {
      id: 'failed-video-keeps-its-hold',
      what: 'A video whose execution failed keeps its hold.',
      find: "void (await runTask({ step: 'release', videoId }))",
      replace: 'void videoId',
    },
  ]),
];

export const localProgramBugs: readonly MoneyBug[] = [
  ...folderBugs,
  ...identityBugs,
  ...leaseBugs,
  ...modeBugs,
  ...backupBugs,
  ...proxyBugs,
  ...settingBugs,
  ...gatewayBugs,
  ...wiringBugs,
];
