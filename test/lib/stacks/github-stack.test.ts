import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Stack } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { environmentNames, environments } from '../../../lib/environments.ts';
import { GithubStack, type GithubStackProps } from '../../../lib/stacks/github-stack.ts';
import { newApp, ofType, read, root } from '../../stacks/synthesize.ts';

const props: GithubStackProps = {
  repository: 'acme/gateway',
  environments: new Map(environmentNames.map((name) => [name, environments[name]])),
  providerArn: undefined,
};

const newStack = (changes: Partial<GithubStackProps> = {}, app: App = newApp()): GithubStack =>
  new GithubStack(app, 'github', { ...props, ...changes });

const roleSchema = z.object({
  RoleName: z.string(),
  AssumeRolePolicyDocument: z.object({ Statement: z.tuple([z.looseObject({ Condition: z.unknown() })]) }),
  Policies: z.tuple([
    z.object({
      PolicyDocument: z.object({
        Statement: z.tuple([
          z.object({
            Effect: z.literal('Allow'),
            Action: z.union([z.string(), z.array(z.string())]),
            Resource: z.unknown(),
          }),
        ]),
      }),
    }),
  ]),
});

/** Returns the trust statement and the only statement of rights, by role. */
const rolesOf = (stack: GithubStack) =>
  new Map(
    ofType(read(stack), 'AWS::IAM::Role').map(({ Properties }) => {
      // Managed policies would add rights.
      expect(Properties).not.toHaveProperty('ManagedPolicyArns');
      const { RoleName, AssumeRolePolicyDocument, Policies } = roleSchema.parse(Properties);
      const [{ PolicyDocument }] = Policies;
      const [rights] = PolicyDocument.Statement;
      return [RoleName, { trust: AssumeRolePolicyDocument.Statement[0], rights }] as const;
    }),
  );

/** Text of an ARN, with `<partition>` and `<account>` for values that only AWS knows. */
const arnsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).map((arn) =>
    z
      .object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) })
      .parse(arn)
      ['Fn::Join'][1].map((part) =>
        typeof part === 'string' ? part : JSON.stringify(part).replace(/^\{"Ref":"AWS::(\w+)"\}$/, '<$1>'),
      )
      .join(''),
  );

const claims = (subject: string, ref: string, repository = props.repository) => ({
  StringEquals: {
    'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
    'token.actions.githubusercontent.com:sub': `repo:${repository}:${subject}`,
  },
  StringLike: { 'token.actions.githubusercontent.com:ref': ref },
});

test('OPS-14 each role trusts one subject and one kind of ref of the repository', () => {
  const roles = rolesOf(newStack());
  expect(Object.fromEntries([...roles].map(([name, { trust }]) => [name, trust.Condition]))).toEqual({
    'gateway-dev-github': claims('environment:dev', 'refs/heads/main'),
    'gateway-staging-github': claims('environment:staging', 'refs/tags/v*'),
    'gateway-prod-github': claims('environment:prod', 'refs/tags/v*'),
    'gateway-dev-github-diff': claims('pull_request', 'refs/pull/*'),
  });
  for (const { trust } of roles.values())
    expect(trust).toMatchObject({
      Effect: 'Allow',
      Action: 'sts:AssumeRoleWithWebIdentity',
      Principal: { Federated: { Ref: expect.stringMatching(/^provider/) } },
    });
});

test('OPS-14 the ids of a repository are part of the trusted subject', () => {
  const repository = 'acme@12/gateway@34';
  const roles = rolesOf(newStack({ repository }));
  expect(roles.get('gateway-prod-github')?.trust.Condition).toEqual(
    claims('environment:prod', 'refs/tags/v*', repository),
  );
});

test("OPS-14 a deployment role may only assume the roles of CDK's bootstrap", () => {
  const roles = rolesOf(newStack());
  for (const name of environmentNames) {
    const rights = roles.get(`gateway-${name}-github`)?.rights;
    expect(rights?.Action).toBe('sts:AssumeRole');
    expect(arnsOf(rights?.Resource)).toEqual(
      ['deploy', 'file-publishing', 'lookup'].map(
        (role) => `arn:<Partition>:iam::<AccountId>:role/cdk-hnb659fds-${role}-role-<AccountId>-us-east-1`,
      ),
    );
  }
});

test('OPS-14 the role of pull requests may only read the templates of dev', () => {
  const rights = rolesOf(newStack()).get('gateway-dev-github-diff')?.rights;
  expect(rights?.Action).toEqual(['cloudformation:DescribeStacks', 'cloudformation:GetTemplate']);
  expect(arnsOf(rights?.Resource)).toEqual([
    'arn:<Partition>:cloudformation:us-east-1:<AccountId>:stack/gateway-dev-*/*',
  ]);
});

test('OPS-14 the roles name the qualifier of the bootstrap', () => {
  const app = newApp({ context: { '@aws-cdk/core:bootstrapQualifier': 'acme' } });
  const rights = rolesOf(newStack({}, app)).get('gateway-dev-github')?.rights;
  for (const arn of arnsOf(rights?.Resource)) expect(arn).toContain(':role/cdk-acme-');
});

test('OPS-14 an account has roles only for its environments, and no role for pull requests without dev', () => {
  expect([...rolesOf(newStack({ environments: new Map([['prod', environments.prod]]) })).keys()]).toEqual([
    'gateway-prod-github',
  ]);
});

test('OPS-14 the stack creates the OIDC provider unless the account has one', () => {
  const provider = ofType(read(newStack()), 'AWS::IAM::OIDCProvider');
  expect(provider.map(({ Properties }) => Properties)).toEqual([
    expect.objectContaining({
      Url: 'https://token.actions.githubusercontent.com',
      ClientIdList: ['sts.amazonaws.com'],
    }),
  ]);
  const providerArn = 'arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com';
  const stack = newStack({ providerArn });
  expect(ofType(read(stack), 'AWS::IAM::OIDCProvider')).toEqual([]);
  expect(rolesOf(stack).get('gateway-dev-github')?.trust).toMatchObject({ Principal: { Federated: providerArn } });
});

test('OPS-14 the stack rejects deletion, names no region and has no finding of cdk-nag', () => {
  const app = newApp();
  const stack = newStack({}, app);
  expect([stack.stackName, stack.terminationProtection]).toEqual(['gateway-github', true]);
  expect(Stack.of(stack).environment).toBe('aws://unknown-account/unknown-region');
  app.synth();
  expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
});

const document = readFileSync(join(root, 'docs/operations/deployment.md'), 'utf8');
const [, table = ''] = /<!-- github-rights -->\n([\s\S]*?)<!-- \/github-rights -->/.exec(document) ?? [];

test('OPS-14 the deployment guide lists every role with its trust and rights', () => {
  const rows = table.matchAll(/^\| `(gateway-[^`]+)` \| `([^`]+)` \| `([^`]+)` \| (.+) \|$/gm);
  const listed = [...rows].map(([, role, subject, ref, rights = '']) => [role, subject, ref, rights] as const);
  const roles = [...rolesOf(newStack())];
  expect(listed.map(([role, subject, ref]) => [role, claims(subject ?? '', ref ?? '')])).toEqual(
    roles.map(([role, { trust }]) => [role, trust.Condition]),
  );
  const [deployment = '', diff = ''] = [listed[0]?.[3], listed.at(-1)?.[3]];
  for (const role of ['deploy-role', 'file-publishing-role', 'lookup-role']) expect(deployment).toContain(`-${role}-*`);
  expect(listed.slice(1, -1).map(([, , , rights]) => rights)).toEqual(['the same', 'the same']);
  expect([...diff.matchAll(/`(cloudformation:\w+)`/g)].map(([, action]) => action)).toEqual(
    roles.at(-1)?.[1].rights.Action,
  );
});
