import { type App, Tags } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { catalogData } from '../catalog/index.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import { EDGE_REGION } from './edge/edge-region.ts';
import { type Environment, type EnvironmentName, prefixOf } from './environments.ts';
import { AccessLogsStack } from './stacks/access-logs-stack.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { EdgeOperationsStack } from './stacks/edge-operations-stack.ts';
import { EdgeStack } from './stacks/edge-stack.ts';
import { GlobalStack } from './stacks/global-stack.ts';
import { OperationsStack } from './stacks/operations-stack.ts';
import { VideoStack } from './stacks/video-stack.ts';

export interface Gateway {
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
}

/**
 * Adds the stacks of one environment. They name no AWS account, so that synthesis needs none. `bin/caller.ts` compares
 * the account of the credentials with that of the environment.
 * Throws a CatalogError if the functions would reject the catalog at their start (CAT-5).
 */
export const addGateway = (
  app: App,
  name: EnvironmentName,
  environment: Environment,
  catalog: unknown = catalogData,
): Gateway => {
  loadCatalog(catalog, { markup: environment.markup, companies: environment.catalogs });
  // With this scope, the CDK command line selects one stack as `dev/data` and all stacks as `dev/*`.
  const scope = new Construct(app, name);
  const prefix = prefixOf(name);
  const data = new DataStack(scope, 'data', { environment, prefix });
  const video = new VideoStack(scope, 'video', { environment, prefix, data });
  const api = new ApiStack(scope, 'api', { environment, prefix, data, video });
  const global =
    environment.frontDoor === 'cloudfront' ? new GlobalStack(scope, 'global', { environment, prefix }) : undefined;
  const edge = global && new EdgeStack(scope, 'edge', { environment, prefix, data, api, global });
  const accessLogs = edge && new AccessLogsStack(scope, 'access-logs', { environment, prefix, edge });
  const operations = new OperationsStack(scope, 'operations', { environment, prefix, data, video, api, global, edge });
  const edgeOperations =
    global && edge && environment.region !== EDGE_REGION
      ? new EdgeOperationsStack(scope, 'edge-operations', { environment, prefix, global, edge })
      : undefined;
  // Its chat channels subscribe to the topics of both.
  if (edgeOperations) operations.addStackDependency(edgeOperations);
  Tags.of(scope).add('gateway:environment', name);
  return { data, video, api, global, edge, accessLogs, operations, edgeOperations };
};
