import { expect, test } from 'vitest';
import { acknowledge } from '../../lib/acknowledgements.ts';
import {
  type EnvironmentName,
  environmentNames,
  environments,
  frontDoors,
  parseEnvironment,
} from '../../lib/environments.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { currentTier, rowsOfTier } from '../tiers.ts';
import { findingsOf } from './findings.ts';
import { permissionsOf } from './permissions.ts';
import { nameOf, newApp, read } from './synthesize.ts';

const QUALIFIER = 'acme';

interface Bootstrap {
  /** Context of the app. */
  readonly context?: Readonly<Record<string, string>>;
  readonly bootstrapKeyArn?: string;
}

type FrontDoor = (typeof frontDoors)[number];

/** Synthesizes an environment for an AWS account with this bootstrap. The long tier also runs AWS's template check. */
const synthesizeFor = (name: EnvironmentName, frontDoor: FrontDoor, { context = {}, bootstrapKeyArn }: Bootstrap) => {
  const app = newApp({ context }, currentTier() === 'long');
  const environment = parseEnvironment({ ...environments[name], frontDoor, bootstrapKeyArn });
  const gateway = new GatewayStage(app, name, environment);
  acknowledge(gateway);
  const findings = findingsOf(app, 'nowhere');
  const templates = app
    .synth()
    .stacksRecursively.map(({ stackName, template }) => [stackName, withoutVersion(template)] as const);
  return { gateway, findings, templates: new Map<string, object>(templates) };
};

/** The id of a version contains a hash of the function, and so of the bucket of its code. */
const withoutVersion = (template: object): object =>
  JSON.parse(JSON.stringify(template).replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, '$1'));

const rows = environmentNames.toReversed().flatMap((name) => frontDoors.map((frontDoor) => ({ name, frontDoor })));

test.each(rowsOfTier(rows, () => 'one'))(
  'OPS-1 $name behind $frontDoor synthesizes without a finding for any bootstrap',
  ({ name, frontDoor }) => {
    const bootstrapKeyArn = `arn:aws:kms:${environments[name].region}:123456789012:key/0a1b`;
    const plain = synthesizeFor(name, frontDoor, {});
    const other = synthesizeFor(name, frontDoor, {
      context: { '@aws-cdk/core:bootstrapQualifier': QUALIFIER },
      bootstrapKeyArn,
    });
    expect([plain.findings, other.findings]).toEqual([[], []]);

    const changed = [...other.templates].flatMap(([stack, template]) => {
      const text = JSON.stringify(template);
      expect(text, stack).not.toContain('hnb659fds');
      const same: typeof template = JSON.parse(
        text
          .replaceAll(`cdk-${QUALIFIER}-`, 'cdk-hnb659fds-')
          .replaceAll(`/cdk-bootstrap/${QUALIFIER}/`, '/cdk-bootstrap/hnb659fds/'),
      );
      return changedResources(plain.templates.get(stack) ?? {}, same);
    });
    expect([...other.templates.keys()]).toEqual([...plain.templates.keys()]);
    // Only the copier of code reads assets itself. CloudFormation reads all others.
    const copies = frontDoor !== 'api-gateway';
    const api = read(other.gateway.api);
    expect(changed.map((id) => nameOf(api.resources.get(id)))).toEqual(
      copies ? ['web-code/copy-role/DefaultPolicy'] : [],
    );
    const decrypts = permissionsOf('web-code', api, []).filter((permission) => permission.startsWith('kms:'));
    expect(decrypts).toEqual(copies ? [`kms:Decrypt ${bootstrapKeyArn}`] : []);
  },
);

/** Returns the logical ids of resources that differ. Fails if anything but resources differs. */
const changedResources = (one: object, other: object): readonly string[] => {
  const { Resources: before = {}, ...rest }: { Resources?: Record<string, unknown> } = one;
  const { Resources: after = {}, ...otherRest }: { Resources?: Record<string, unknown> } = other;
  expect(otherRest).toEqual(rest);
  const ids = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...ids].filter((id) => JSON.stringify(before[id]) !== JSON.stringify(after[id]));
};
