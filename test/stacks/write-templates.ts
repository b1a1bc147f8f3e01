import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Environment,
  type EnvironmentName,
  environmentNames,
  environments,
  frontDoors,
  parseEnvironment,
} from '../../lib/environments.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { environmentOf, newApp, type Variant, variants } from './synthesize.ts';

/** Environment to synthesize, with the context of its app. */
interface Row {
  readonly title: string;
  readonly name: EnvironmentName;
  readonly environment: Environment;
  readonly context?: Readonly<Record<string, string>>;
}

/** Every environment behind every front door, for the default bootstrap and for one with its own qualifier and key. */
const ofBootstraps = (): readonly Row[] =>
  environmentNames.flatMap((name) =>
    frontDoors.flatMap((frontDoor): Row[] => {
      const environment = { ...environments[name], frontDoor };
      const bootstrapKeyArn = `arn:aws:kms:${environment.region}:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001`;
      return [
        { title: `${name} ${frontDoor}`, name, environment: parseEnvironment(environment) },
        {
          title: `${name} ${frontDoor} acme`,
          name,
          environment: parseEnvironment({ ...environment, bootstrapKeyArn }),
          context: { '@aws-cdk/core:bootstrapQualifier': 'acme' },
        },
      ];
    }),
  );

const ofVariants = (): readonly Row[] =>
  (Object.keys(variants) as Variant[]).map((variant) => ({
    title: `prod ${variant}`,
    name: 'prod',
    environment: environmentOf('prod', variant),
  }));

/**
 * Synthesizes all environments and variants, and writes each distinct template once to the folder. Returns the number of
 * synthesized templates and the paths of the files, each named by the first environment that has it.
 */
export const writeTemplates = (folder: string): { readonly synthesized: number; readonly files: readonly string[] } => {
  mkdirSync(folder, { recursive: true });
  const seen = new Set<string>();
  const files: string[] = [];
  let synthesized = 0;
  for (const { title, name, environment, context } of [...ofBootstraps(), ...ofVariants()]) {
    const app = newApp(context ? { context } : {});
    const { directory } = new GatewayStage(app, name, environment).synth();
    for (const file of readdirSync(directory).filter((each) => each.endsWith('.template.json'))) {
      synthesized += 1;
      const text = readFileSync(join(directory, file), 'utf8');
      if (seen.has(text)) continue;
      seen.add(text);
      const path = join(folder, `${title.replaceAll(' ', '-')}-${file}`);
      writeFileSync(path, text);
      files.push(path);
    }
    rmSync(app.outdir, { recursive: true });
  }
  return { synthesized, files };
};
