import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { acknowledge } from '../lib/acknowledgements.ts';
import { environmentNames, environments, parseEnvironment } from '../lib/environments.ts';
import { addGateway } from '../lib/gateway.ts';

const app = new App({ analyticsReporting: false });
// `-c frontDoor=api-gateway` tries another one without a change to the environments.
const frontDoor: unknown = app.node.tryGetContext('frontDoor');
for (const name of environmentNames) {
  const environment =
    frontDoor === undefined ? environments[name] : parseEnvironment({ ...environments[name], frontDoor }, name);
  addGateway(app, name, environment);
}
acknowledge(app);
// Whatever it finds, and nobody has given a reason for, stops synthesis.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
