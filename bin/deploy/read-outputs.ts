import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { prefixOf } from '../../lib/environments.ts';
import { functionNames } from '../../lib/functions.ts';
import { publicUrlOf } from '../../lib/public-url.ts';
import { environmentOf } from '../config.ts';
import { failed } from '../exit.ts';

export interface Outputs {
  /** Base URL for clients; undefined without a front door. */
  readonly publicUrl: string | undefined;
  /** URLs of the functions, by output name. */
  readonly urls: Readonly<Record<string, string>>;
  readonly providerKeysSecret: string;
  readonly botTokenSecret: string;
}

const fileSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** Reads the outputs file of `cdk deploy`. Throws a CliError if an output that every deployment has is missing. */
export const readOutputs = (path: string, name: string): Outputs => {
  if (!existsSync(path))
    throw failed(
      'cdk deploy wrote no outputs, perhaps because it only prepared its changes. Run the same command without options such as --no-execute.',
    );
  const stacks = fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const of = (stack: string) => stacks[`${prefixOf(name)}-${stack}`] ?? {};
  const needed = (output: string): string => {
    const value = of('data')[output];
    if (!value)
      throw failed(`The stack ${prefixOf(name)}-data has no output ${output}. Deploy this version of the stack.`);
    return value;
  };
  const urls = Object.entries(of('api')).filter(([output]) => functionNames.some((each) => `${each}Url` === output));
  return {
    publicUrl: publicUrlOf(environmentOf(name)) ?? of('edge').publicUrl ?? of('api').publicUrl,
    urls: Object.fromEntries(urls),
    providerKeysSecret: needed('providerKeysSecretArn'),
    botTokenSecret: needed('botTokenSecretArn'),
  };
};
