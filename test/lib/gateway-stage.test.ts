import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { defaultEnvironments, environmentNames } from '../../lib/environments.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { newApp, synthesize } from '../stacks/synthesize.ts';

/** Returns an app of another owner, without the feature flags of `cdk.json`. */
const otherApp = (): App =>
  new App({
    outdir: mkdtempSync(join(tmpdir(), 'gateway-stage-')),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    context: {
      'aws:cdk:enable-path-metadata': true,
      'aws:cdk:enable-asset-metadata': true,
      'aws:cdk:bundling-stacks': [],
      '@aws-cdk/core:defaultCrossStackReferences': 'strong',
    },
  });

const templatesOf = (stage: GatewayStage): ReadonlyMap<string, unknown> =>
  new Map(stage.synth().stacks.map(({ stackName, template }) => [stackName, template]));

test('OPS-18 an app without the feature flags gets the same templates', () => {
  const props = defaultEnvironments.dev;
  const own = templatesOf(new GatewayStage(newApp(), 'dev', props));
  expect(own.size).toBe(7);
  expect(templatesOf(new GatewayStage(otherApp(), 'dev', props))).toEqual(own);
});

test('OPS-18 the id in lower case is the name of the environment, unless there is another one', () => {
  const app = otherApp();
  expect(new GatewayStage(app, 'Dev', defaultEnvironments.dev).prefix).toBe('gateway-dev');
  const stage = new GatewayStage(app, 'LiveStage', { ...defaultEnvironments.prod, name: 'prod' });
  expect(stage.node.children.map((stack) => 'stackName' in stack && stack.stackName)).toEqual(
    ['data', 'video', 'api', 'global', 'edge', 'access-logs', 'operations'].map((stack) => `gateway-prod-${stack}`),
  );
});

test.each([
  [{ ...defaultEnvironments.dev, name: 'Dev' }, /^Dev\.name: must start with a letter .* It is "Dev"$/],
  [{ ...defaultEnvironments.dev, region: 'moon' }, /^Dev\.region: must be an AWS region such as eu-central-1$/],
])('OPS-18 an invalid field stops synthesis with the id of the stage, the field and the fix', (props, message) => {
  expect(() => new GatewayStage(otherApp(), 'Dev', props)).toThrow(message);
});

test('every stack has a description of one sentence', () => {
  for (const name of environmentNames)
    for (const { stackName, templateOptions } of synthesize(name, 'cloudfront of another region').stacks)
      expect(templateOptions.description, stackName).toMatch(/^Model gateway: [^.]{30,200}\.$/);
});
