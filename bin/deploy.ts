import { join } from 'node:path';
import { checkDeployment } from './check-deployed/check-deployment.ts';
import { runDeployment } from './deploy/run-deployment.ts';
import { processTerminal } from './terminal.ts';

const cdk = [process.execPath, join(import.meta.dirname, '../node_modules/aws-cdk/bin/cdk')];

const terminal = processTerminal();
const checkDeployed = (name: string): Promise<void> => checkDeployment(terminal, name);

process.exitCode = (await runDeployment(process.argv.slice(2), { terminal, cdk, checkDeployed })) || process.exitCode;
