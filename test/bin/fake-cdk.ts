import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { writeAssembly } from './fake-assembly.ts';

/**
 * Script of a fake `cdk` command, which is run as `node fake-cdk.ts <script file> <arguments of cdk>`. The command does
 * what the script file says, and appends its arguments to `<script file>.calls`.
 */
export interface CdkScript {
  readonly exitCode: number;
  /** Exit code of `cdk synth`. Default: 0. */
  readonly synthExitCode?: number;
  /** Outputs of each stack, by stack name. */
  readonly outputs?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

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
  process.exitCode = args[0] === 'synth' ? (script.synthExitCode ?? 0) : script.exitCode;
}
