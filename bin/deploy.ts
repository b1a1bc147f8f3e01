import { join } from 'node:path';
import { runDeployment } from './deploy/run-deployment.ts';
import { processTerminal } from './terminal.ts';

const cdk = [process.execPath, join(import.meta.dirname, '../node_modules/aws-cdk/bin/cdk')];

process.exitCode =
  (await runDeployment(process.argv.slice(2), { terminal: processTerminal(), cdk })) || process.exitCode;
