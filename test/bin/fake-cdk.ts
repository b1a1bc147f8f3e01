import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Script of a fake `cdk` command, which is run as `node fake-cdk.ts <script file> <arguments of cdk>`. The command does
 * what the script file says, and appends its arguments to `<script file>.calls`.
 */
export interface CdkScript {
  readonly exitCode: number;
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
    mkdirSync(assembly, { recursive: true });
    writeFileSync(join(assembly, 'one.template.json'), JSON.stringify({ Resources: { A: {}, B: {} } }));
    const stackOf = (stackName: string) => ({
      type: 'aws:cloudformation:stack',
      environment: 'aws://unknown-account/us-east-1',
      properties: { stackName, templateFile: 'one.template.json' },
    });
    const artifacts = {
      one: stackOf('gateway-dev-data'),
      Tree: { type: 'cdk:tree' },
    };
    writeFileSync(join(assembly, 'manifest.json'), JSON.stringify({ artifacts }));
  }
  process.exitCode = script.exitCode;
}
