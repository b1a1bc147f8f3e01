import { bugsIn } from './money-bug.ts';

/** Mistakes that lose stored data, or let calls to providers leave from another address. */
export const reuseBugs = [
  ...bugsIn('lib/stacks/data-stack.ts', 'test/lib/stacks/data-stack-ids.test.ts', [
    {
      id: 'tables-under-another-id',
      what: 'A deployment replaces every table with an empty one.',
      find: '-table`, { table: tables[name], keepsData })',
      replace: '-store`, { table: tables[name], keepsData })',
    },
    {
      id: 'pepper-generated-again',
      what: 'A deployment replaces the pepper, which invalidates every API key.',
      find: "keyPepper: new Secret(stack, 'key-pepper', {",
      replace: "keyPepper: new Secret(stack, 'pepper', {",
    },
  ]),
  ...bugsIn('lib/constructs/provider-network.ts', 'test/lib/stacks/network-stack.test.ts', [
    {
      id: 'providers-called-from-outside-the-vpc',
      what: 'The functions that call providers do not use the fixed addresses.',
      find: "secrets.includes('providerKeys') &&",
      replace: "secrets.includes('botToken') &&",
    },
  ]),
  ...bugsIn('lib/stacks/network-stack.ts', 'test/lib/stacks/network-stack.test.ts', [
    {
      id: 'address-lost-with-the-stack',
      what: 'An update of the network releases the addresses that providers have in their lists.',
      find: 'keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY',
      replace: 'keepsData ? RemovalPolicy.DESTROY : RemovalPolicy.DESTROY',
    },
  ]),
  ...bugsIn('bin/config.ts', 'test/bin/config.test.ts', [
    {
      id: 'environments-of-another-file',
      what: 'Commands use the environments of the gateway instead of those of their owner.',
      find: 'named ? resolve(named) : folders',
      replace: 'named ? resolve(named) : folders.toReversed()',
    },
  ]),
];
