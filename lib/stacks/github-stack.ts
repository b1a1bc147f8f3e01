import { CfnOutput, DefaultStackSynthesizer, Stack, Validations } from 'aws-cdk-lib';
import {
  type IOidcProvider,
  OidcProviderNative,
  OpenIdConnectPrincipal,
  PolicyDocument,
  PolicyStatement,
  Role,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { EDGE_REGION } from '../edge/edge-region.ts';
import { type Environment, prefixOf } from '../environments.ts';

export interface GithubStackProps {
  /**
   * Repository as in the `sub` claim of its tokens: `owner/name`, or `owner@1234/name@5678` with GitHub's ids, which
   * repositories have since 2026-07-15.
   */
  readonly repository: string;
  /** Environments in this AWS account, by name. */
  readonly environments: ReadonlyMap<string, DeployedEnvironment>;
  /** ARN of the account's OIDC provider for GitHub. Without it, the stack creates one. An account can have only one. */
  readonly providerArn: string | undefined;
}

const ISSUER = 'token.actions.githubusercontent.com';
const AUDIENCE = 'sts.amazonaws.com';

/** Roles of `cdk bootstrap` that `cdk deploy` assumes. The stacks contain no image, so it needs no image role. */
const bootstrapRoles = ['deploy-role', 'file-publishing-role', 'lookup-role'] as const;

type DeployedEnvironment = Pick<Environment, 'region' | 'frontDoor'>;

/** The environment that is deployed from the main branch, and whose differences a pull request shows. */
const DEV = 'dev';

/** Returns the git ref that may deploy an environment. The workflows use the same. */
const deployableRef = (name: string): string => (name === DEV ? 'refs/heads/main' : 'refs/tags/v*');

/** Returns the regions of the stacks of an environment. */
const regionsOf = ({ region, frontDoor }: DeployedEnvironment): readonly string[] => [
  ...new Set(frontDoor === 'cloudfront' ? [region, EDGE_REGION] : [region]),
];

/**
 * Roles that GitHub Actions assumes by OIDC. A deployment role may only assume roles of `cdk bootstrap`. The role of pull
 * requests may only read the templates of `dev`: the lookup role of `cdk bootstrap` could also read items of tables.
 */
export class GithubStack extends Stack {
  readonly #provider: IOidcProvider;
  readonly #repository: string;

  constructor(scope: Construct, id: string, props: GithubStackProps) {
    super(scope, id, {
      description: 'Model gateway: the roles that GitHub Actions assumes by OIDC to deploy and to compare templates.',
      stackName: 'gateway-github',
      terminationProtection: true,
    });
    this.#repository = props.repository;
    this.#provider =
      props.providerArn === undefined
        ? new OidcProviderNative(this, 'provider', { url: `https://${ISSUER}`, clientIds: [AUDIENCE] })
        : OidcProviderNative.fromOidcProviderArn(this, 'provider', props.providerArn);
    for (const [name, environment] of props.environments) this.#addDeployment(name, environment);
    const dev = props.environments.get(DEV);
    if (dev) this.#addDiff(dev);
  }

  #addDeployment(name: string, environment: DeployedEnvironment): void {
    const qualifier = this.synthesizer.bootstrapQualifier ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER;
    this.#addRole(`${name}-deployment`, {
      roleName: `${prefixOf(name)}-github`,
      subject: `environment:${name}`,
      ref: deployableRef(name),
      actions: ['sts:AssumeRole'],
      resources: regionsOf(environment).flatMap((region) =>
        bootstrapRoles.map((role) => this.#arn('iam', '', `role/cdk-${qualifier}-${role}-${this.account}-${region}`)),
      ),
    });
  }

  #addDiff(environment: DeployedEnvironment): void {
    const resources = regionsOf(environment).map((region) =>
      this.#arn('cloudformation', region, `stack/${prefixOf(DEV)}-*/*`),
    );
    const role = this.#addRole(`${DEV}-diff`, {
      roleName: `${prefixOf(DEV)}-github-diff`,
      subject: 'pull_request',
      ref: 'refs/pull/*',
      actions: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'],
      resources,
    });
    Validations.of(role).acknowledge(
      ...regionsOf(environment).map((region) => ({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:cloudformation:${region}:<AWS::AccountId>:stack/${prefixOf(DEV)}-*/*]`,
        reason: 'The ARN of a stack ends in an id that CloudFormation chooses. A pull request may add a stack.',
      })),
    );
  }

  #addRole(id: string, { roleName, subject, ref, actions, resources }: RoleDescription): Role {
    const role = new Role(this, id, {
      roleName,
      description: `GitHub Actions in ${this.#repository}: ${subject}`,
      assumedBy: new OpenIdConnectPrincipal(this.#provider, {
        StringEquals: { [`${ISSUER}:aud`]: AUDIENCE, [`${ISSUER}:sub`]: `repo:${this.#repository}:${subject}` },
        StringLike: { [`${ISSUER}:ref`]: ref },
      }),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [new PolicyStatement({ actions: [...actions], resources: [...resources] })],
        }),
      },
    });
    new CfnOutput(this, `${id}-role-arn`, { value: role.roleArn });
    return role;
  }

  #arn(service: string, region: string, resource: string): string {
    return `arn:${this.partition}:${service}:${region}:${this.account}:${resource}`;
  }
}

interface RoleDescription {
  readonly roleName: string;
  /** End of the `sub` claim. */
  readonly subject: string;
  /** Pattern of the `ref` claim. */
  readonly ref: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}
