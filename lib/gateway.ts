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
  /** All three only where CloudFront is the front door. */
  readonly global: GlobalStack | undefined;
  readonly edge: EdgeStack | undefined;
  readonly accessLogs: AccessLogsStack | undefined;
  readonly operations: OperationsStack;
  /** Only where CloudFront is the front door of another region than its own. */
  readonly edgeOperations: EdgeOperationsStack | undefined;
}

/**
 * The stacks of one environment. They name no AWS account: they go where the credentials of the deployment point, and synthesis
 * asks nobody. Throws a CatalogError if the functions would refuse the catalog when they start (CAT-5).
 */
export const addGateway = (
  app: App,
  name: EnvironmentName,
  environment: Environment,
  catalog: unknown = catalogData,
): Gateway => {
  loadCatalog(catalog, { markup: environment.markup, companies: environment.catalogs });
  // The command line finds them as `dev/data`, or all of an environment's as `dev/*`.
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
  Tags.of(scope).add('gateway:environment', name);
  return { data, video, api, global, edge, accessLogs, operations, edgeOperations };
};
