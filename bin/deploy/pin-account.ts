import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { failed } from '../exit.ts';

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().default(''),
      properties: z.object({ file: z.string().default(''), directoryName: z.string().default('') }).prefault({}),
    }),
  ),
});

/**
 * Writes the account into the manifests of a cloud assembly folder and of its nested ones, so that `cdk deploy` rejects
 * credentials of other accounts. Fills the placeholders too: cdk would fill those of asset destinations with the
 * account of its credentials. Keeps the templates. Throws a CliError if a stack is for another account.
 */
export const pinAccount = (folder: string, account: string): void => {
  const pin = (file: string): string => {
    const path = join(folder, file);
    const pinned = readFileSync(path, 'utf8')
      .replaceAll('aws://unknown-account/', `aws://${account}/`)
      .replaceAll(`\${AWS::AccountId}`, account);
    writeFileSync(path, pinned);
    return pinned;
  };
  const { artifacts } = manifestSchema.parse(JSON.parse(pin('manifest.json')));
  for (const [id, { type, environment, properties }] of Object.entries(artifacts)) {
    if (type === 'cdk:asset-manifest') pin(properties.file);
    if (type === 'cdk:cloud-assembly') pinAccount(join(folder, properties.directoryName), account);
    if (type === 'aws:cloudformation:stack' && !environment.startsWith(`aws://${account}/`))
      throw failed(
        `${id}: is for ${environment}, but the checked AWS account is ${account}. Remove the account from its env.`,
      );
  }
};
