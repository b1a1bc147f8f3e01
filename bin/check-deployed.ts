import { runCheck } from './check-deployed/check-deployment.ts';
import { processTerminal } from './terminal.ts';

process.exitCode = (await runCheck(process.argv.slice(2), processTerminal())) || process.exitCode;
