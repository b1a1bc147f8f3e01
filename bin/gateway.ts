import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as z from 'zod';
import { acknowledge } from '../lib/acknowledgements.ts';
import { environmentNames, environments, parseEnvironment } from '../lib/environments.ts';
import { addGateway } from '../lib/gateway.ts';

/**
 * `-c environment=dev` leaves the others out. `-c frontDoor=api-gateway` tries another one without a change to the environments. What is
 * wrong is told in a line each.
 */
const addEnvironments = (app: App): void => {
  const only = z.enum(environmentNames).optional().safeParse(app.node.tryGetContext('environment'));
  if (!only.success) throw new Error(`-c environment: must be one of ${environmentNames.join(', ')}`);
  const frontDoor: unknown = app.node.tryGetContext('frontDoor');
  for (const name of only.data ? [only.data] : environmentNames) {
    const environment = environments[name];
    addGateway(
      app,
      name,
      frontDoor === undefined ? environment : parseEnvironment({ ...environment, frontDoor }, name),
    );
  }
};

const app = new App({ analyticsReporting: false });
try {
  addEnvironments(app);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
acknowledge(app);
// Whatever it finds, and nobody has given a reason for, stops synthesis.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
