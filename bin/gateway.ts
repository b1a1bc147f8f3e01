import { App } from 'aws-cdk-lib';
import { environmentNames, environments } from '../lib/environments.ts';
import { addGateway } from '../lib/gateway.ts';

const app = new App({ analyticsReporting: false });
for (const name of environmentNames) addGateway(app, name, environments[name]);
