import { bugsIn } from './money-bug.ts';

/** Mistakes of the roles that GitHub Actions assumes. */
export const githubRoleBugs = bugsIn('lib/stacks/github-stack.ts', 'test/lib/stacks/github-stack.test.ts', [
  {
    id: 'prod-deployed-from-a-branch',
    what: 'A job of any branch can deploy prod, if the rules of the GitHub environment allow it.',
    find: "'refs/heads/main' : 'refs/tags/v*'",
    replace: "'refs/heads/main' : 'refs/*'",
  },
  {
    id: 'pull-requests-read-every-stack',
    what: 'A pull request can read the templates of prod.',
    find: '(DEV)}-*/*`),',
    replace: '(DEV).slice(0, 8)}*/*`),',
  },
  {
    id: 'pull-requests-change-stacks',
    what: 'A pull request can change the stacks of dev before a review.',
    find: "actions: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'],",
    replace: "actions: ['cloudformation:*'],",
  },
  {
    id: 'every-repository-trusted',
    what: 'The roles trust a ref of any repository, because the second condition replaces the first.',
    find: 'StringEquals: {',
    replace: 'StringLike: {',
  },
]);
