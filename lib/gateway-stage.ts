import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stage, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import * as z from 'zod';
import { catalogData } from '../catalog/index.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import { EDGE_REGION } from './edge/edge-region.ts';
import type { EnvironmentOptions } from './environment-options.ts';
import { type Environment, environmentNameProblem, parseEnvironment, prefixOf } from './environments.ts';
import { AccessLogsStack } from './stacks/access-logs-stack.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { EdgeOperationsStack } from './stacks/edge-operations-stack.ts';
import { EdgeStack } from './stacks/edge-stack.ts';
import { GlobalStack } from './stacks/global-stack.ts';
import { NetworkStack } from './stacks/network-stack.ts';
import { OperationsStack } from './stacks/operations-stack.ts';
import { VideoStack } from './stacks/video-stack.ts';

/** Fields of an environment, and its name. docs/operations/deployment.md has a table of the fields and their defaults. */
export interface GatewayStageProps extends EnvironmentOptions {
  /**
   * Name of the environment: 1 to 16 characters of a to z, 0 to 9 and -. The stacks and their resources are called
   * `gateway-<name>-...`, so it must be unique in an AWS account. Default: the id in lower case.
   */
  readonly name?: string;
}

/**
 * All stacks of one environment: `new GatewayStage(app, 'Dev', { region: 'eu-central-1', ... })`. The CDK command line
 * selects them as `Dev/*`. They name no AWS account, so that synthesis needs none: `cdk deploy` uses that of the
 * credentials. Sets the feature flags of CDK for its stacks, so that the flags of the app do not change the templates.
 * Throws an Error with one line per invalid field, and a CatalogError if the functions would reject the catalog at their
 * start (CAT-5).
 */
export class GatewayStage extends Stage {
  /** Fields of the environment, with defaults. */
  readonly environment: Environment;
  /** Prefix of all names: `gateway-<name>`. */
  readonly prefix: string;
  /** Exists only if `network` has the kind `created`. */
  readonly network: NetworkStack | undefined;
  readonly data: DataStack;
  readonly video: VideoStack;
  readonly api: ApiStack;
  /** These three stacks exist only if CloudFront is the front door. */
  readonly global: GlobalStack | undefined;
  readonly edge: EdgeStack | undefined;
  readonly accessLogs: AccessLogsStack | undefined;
  readonly operations: OperationsStack;
  /** Exists only if CloudFront is the front door and the environment is in another region than us-east-1. */
  readonly edgeOperations: EdgeOperationsStack | undefined;

  constructor(scope: Construct, id: string, { name = id.toLowerCase(), ...options }: GatewayStageProps) {
    super(scope, id);
    const problem = environmentNameProblem(name);
    if (problem !== undefined) throw new Error(`${id}.name: ${problem}`);
    const environment = parseEnvironment(options, id);
    checkModels(environment);
    const prefix = prefixOf(name);
    for (const [flag, value] of Object.entries(featureFlags())) this.node.setContext(flag, value);
    const { frontDoor, region } = environment;
    const created = environment.network?.kind === 'created' ? environment.network : undefined;
    const network = created && new NetworkStack(this, 'network', { environment, prefix, network: created });
    const data = new DataStack(this, 'data', { environment, prefix });
    const video = new VideoStack(this, 'video', { environment, prefix, data, network });
    const api = new ApiStack(this, 'api', { environment, prefix, data, video, network });
    const global = frontDoor === 'cloudfront' ? new GlobalStack(this, 'global', { environment, prefix }) : undefined;
    const edge = global && new EdgeStack(this, 'edge', { environment, prefix, data, api, global });
    this.accessLogs = edge && new AccessLogsStack(this, 'access-logs', { environment, prefix, edge });
    this.operations = new OperationsStack(this, 'operations', { environment, prefix, data, video, api, global, edge });
    this.edgeOperations =
      global && edge && region !== EDGE_REGION
        ? new EdgeOperationsStack(this, 'edge-operations', { environment, prefix, global, edge })
        : undefined;
    // Its chat channels subscribe to the topics of both.
    if (this.edgeOperations) this.operations.addStackDependency(this.edgeOperations);
    Tags.of(this).add('gateway:environment', name);
    this.environment = environment;
    this.prefix = prefix;
    this.network = network;
    this.data = data;
    this.video = video;
    this.api = api;
    this.global = global;
    this.edge = edge;
  }
}

const settingsSchema = z.object({ context: z.record(z.string(), z.unknown()) });

/** Returns the context of `cdk.json`, which has the feature flags of CDK that the templates depend on. */
const featureFlags = (): Readonly<Record<string, unknown>> =>
  settingsSchema.parse(JSON.parse(readFileSync(join(import.meta.dirname, '../cdk.json'), 'utf8'))).context;

/** Throws a CatalogError if the functions of the environment would reject the catalog at their start (CAT-5). */
export const checkModels = ({ markup, catalogs }: Environment, catalog: unknown = catalogData): void => {
  loadCatalog(catalog, { markup, companies: catalogs });
};
