import { type App, Tags } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { catalogData } from '../catalog/index.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import type { Environment, EnvironmentName } from './environments.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { VideoStack } from './stacks/video-stack.ts';

export interface Gateway {
  readonly data: DataStack;
  readonly video: VideoStack;
  readonly api: ApiStack;
}

/**
 * The stacks of one environment. They name no AWS account and no region: they go where the credentials of the deployment
 * point, and synthesis asks nobody. Throws a CatalogError if the functions would refuse the catalog when they start (CAT-5), and an
 * Error for times of videos that do not fit together.
 */
export const addGateway = (
  app: App,
  name: EnvironmentName,
  environment: Environment,
  catalog: unknown = catalogData,
): Gateway => {
  loadCatalog(catalog, { markup: environment.markup });
  // The command line finds them as `dev/data`, or all of an environment's as `dev/*`.
  const scope = new Construct(app, name);
  const prefix = `gateway-${name}`;
  const data = new DataStack(scope, 'data', { environment, prefix });
  const video = new VideoStack(scope, 'video', { environment, prefix, data });
  const api = new ApiStack(scope, 'api', { environment, prefix, data, video });
  Tags.of(scope).add('gateway:environment', name);
  return { data, video, api };
};
