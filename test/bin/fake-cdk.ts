import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAssembly } from './fake-assembly.ts';

/**
 * Script of a fake `cdk` command, which is run as `node fake-cdk.ts <script file> <arguments of cdk>`. The command does
 * what the script file says, appends its arguments to `<script file>.calls`, and copies the manifest that it deploys to
 * `<script file>.manifest`.
 */
export interface CdkScript {
  readonly exitCode: number;
  /** Exit code of `cdk synth`. Default: 0. */
  readonly synthExitCode?: number;
  /** Outputs of each stack, by stack name. */
  readonly outputs?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Whether `cdk deploy` is the real command, with its output in `<script file>.output`. */
  readonly deploys?: boolean;
}

/** Program of the real command. */
export const realCdk = join(import.meta.dirname, '../../node_modules/aws-cdk/bin/cdk');

const [scriptPath = '', ...args] = process.argv.slice(2);

const argumentAfter = (flag: string): string | undefined => args[args.indexOf(flag) + 1];

if (scriptPath !== '') {
  const script: CdkScript = JSON.parse(readFileSync(scriptPath, 'utf8'));
  appendFileSync(`${scriptPath}.calls`, `${JSON.stringify(args)}\n`);
  const outputsFile = args.includes('--outputs-file') ? argumentAfter('--outputs-file') : undefined;
  if (outputsFile && script.outputs) writeFileSync(outputsFile, JSON.stringify(script.outputs));
  const assembly = args[0] === 'synth' ? argumentAfter('--output') : undefined;
  if (assembly) {
    const resources = [{ Type: 'AWS::S3::Bucket' }, { Type: 'AWS::Lambda::WebFunction' }];
    writeAssembly(assembly, [{ name: 'gateway-dev-data', region: 'us-east-1', resources }]);
  }
  const app = args[0] === 'deploy' ? argumentAfter('--app') : undefined;
  if (app) copyFileSync(join(app, 'manifest.json'), `${scriptPath}.manifest`);
  if (app && script.deploys) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [realCdk, ...args], { encoding: 'utf8' });
    writeFileSync(`${scriptPath}.output`, stdout + stderr);
    process.exit(status ?? 1);
  }
  process.exitCode = args[0] === 'synth' ? (script.synthExitCode ?? 0) : script.exitCode;
}
