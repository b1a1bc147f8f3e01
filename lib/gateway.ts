import { type App, Tags } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { catalogData } from '../catalog/index.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import type { Environment, EnvironmentName } from './environments.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { DataStack } from './stacks/data-stack.ts';

export interface Gateway {
  readonly data: DataStack;
  readonly api: ApiStack;
}

/**
 * The stacks of one environment. They name no AWS account and no region: they go where the credentials of the deployment
 * point, and synthesis asks nobody. Throws a CatalogError if the functions would refuse the catalog when they start (CAT-5).
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
  const api = new ApiStack(scope, 'api', { environment, prefix, data });
  Tags.of(scope).add('gateway:environment', name);
  return { data, api };
};
