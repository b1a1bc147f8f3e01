import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as z from 'zod';
import { acknowledge } from '../lib/acknowledgements.ts';
import { environmentNames, environments, parseEnvironment } from '../lib/environments.ts';
import { addGateway } from '../lib/gateway.ts';

const contextNames: readonly string[] = ['environment', 'frontDoor', 'restart', 'originSecretVersion'];

/** What CDK and its libraries have there is no word of letters alone: `cli-telemetry`, `aws:cdk:bundling-stacks`. */
const refuseUnknown = (names: readonly string[]): void => {
  const unknown = names.find((name) => /^[a-z]+$/i.test(name) && !contextNames.includes(name));
  if (unknown !== undefined) throw new Error(`-c ${unknown}: is not known; there is ${contextNames.join(', ')}`);
};

/**
 * `-c environment=dev` leaves the others out. `-c frontDoor=api-gateway` tries another one without a change to the environments. What is
 * wrong is told in a line each.
 */
const addEnvironments = (app: App): void => {
  refuseUnknown(Object.keys(app.node.getAllContext()));
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
