import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { type EnvironmentName, environments, prefixOf } from '../../lib/environments.ts';
import { functionNames } from '../../lib/functions.ts';
import { publicUrlOf } from '../../lib/public-url.ts';
import { failed } from '../exit.ts';

export interface Outputs {
  /** What clients reach the gateway by; undefined where nothing stands before the functions. */
  readonly publicUrl: string | undefined;
  /** Of the functions, by the names of their outputs. */
  readonly urls: Readonly<Record<string, string>>;
  readonly bucket: string;
  readonly providerKeysSecret: string;
  readonly botTokenSecret: string;
}

const fileSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** Of the stacks that `cdk deploy` has just been through. Throws a CliError for a file without what every deployment has. */
export const readOutputs = (path: string, name: EnvironmentName): Outputs => {
  if (!existsSync(path))
    throw failed('cdk deploy has told no outputs: were its changes only prepared? The pages were not put up.');
  const stacks = fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const of = (stack: string) => stacks[`${prefixOf(name)}-${stack}`] ?? {};
  const needed = (output: string): string => {
    const value = of('data')[output];
    if (!value) throw failed(`The stack ${prefixOf(name)}-data has told no ${output}: its pages cannot be put up.`);
    return value;
  };
  const urls = Object.entries(of('api')).filter(([output]) => functionNames.some((each) => `${each}Url` === output));
  return {
    publicUrl: publicUrlOf(environments[name]) ?? of('edge').publicUrl ?? of('api').publicUrl,
    urls: Object.fromEntries(urls),
    bucket: needed('mediaBucketName'),
    providerKeysSecret: needed('providerKeysSecretArn'),
    botTokenSecret: needed('botTokenSecretArn'),
  };
};
