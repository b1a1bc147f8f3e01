import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as z from 'zod';
import { acknowledge } from '../lib/acknowledgements.ts';
import { parseEnvironment } from '../lib/environments.ts';
import { GatewayStage } from '../lib/gateway-stage.ts';
import { environmentNames, environmentOf } from './config.ts';

const contextNames: readonly string[] = ['environment', 'frontDoor', 'restart', 'originSecretVersion'];

/**
 * Throws an Error for an unknown context name. CDK's own names contain characters other than letters, such as
 * `cli-telemetry`.
 */
const refuseUnknown = (names: readonly string[]): void => {
  const unknown = names.find((name) => /^[a-z]+$/i.test(name) && !contextNames.includes(name));
  if (unknown !== undefined) throw new Error(`-c ${unknown}: unknown name. Use one of ${contextNames.join(', ')}.`);
};

/**
 * Adds the environments. `-c environment=dev` adds only that one, and `-c frontDoor=api-gateway` tries another front
 * door. Throws an Error with one line per problem.
 */
const addEnvironments = (app: App): void => {
  refuseUnknown(Object.keys(app.node.getAllContext()));
  const only = z.enum(environmentNames).optional().safeParse(app.node.tryGetContext('environment'));
  if (!only.success) throw new Error(`-c environment: must be one of ${environmentNames.join(', ')}.`);
  const frontDoor: unknown = app.node.tryGetContext('frontDoor');
  for (const name of only.data ? [only.data] : environmentNames) {
    const environment = environmentOf(name);
    const tried =
      frontDoor === undefined ? environment : parseEnvironment({ ...environment, frontDoor }, `environments.${name}`);
    acknowledge(new GatewayStage(app, name, tried));
  }
};

const app = new App({ analyticsReporting: false });
try {
  addEnvironments(app);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
// Findings without an acknowledged reason stop the synthesis.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
