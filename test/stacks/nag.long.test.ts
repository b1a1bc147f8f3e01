import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { acknowledge, acknowledgements } from '../../lib/acknowledgements.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { findingsOf } from './findings.ts';
import { environmentOf, newApp, type Variant, variants } from './synthesize.ts';

const names = Object.keys(variants) as Variant[];

/** Returns the environment in an app with AWS's own template check, which runs in the synthesis and throws its findings. */
const stageOf = (variant: Variant): GatewayStage =>
  new GatewayStage(newApp({}, true), 'prod', environmentOf('prod', variant));

const appOf = (stage: GatewayStage): App => {
  const { root } = stage.node;
  if (!App.isApp(root)) throw new Error('the root is not an app');
  return root;
};

test.each(names)('OPS-1 cdk-nag has no finding without a reason: %s', (variant) => {
  const stage = stageOf(variant);
  acknowledge(stage);
  expect(findingsOf(appOf(stage), 'nowhere')).toEqual([]);
});

test('every reason is still needed', () => {
  const found = names.flatMap((variant) => findingsOf(appOf(stageOf(variant)), environmentOf('prod', variant).region));
  const idle = acknowledgements.flatMap(({ of, rules }) =>
    rules
      .filter((rule) => !found.some((finding) => `${finding}/`.startsWith(`${rule} prod/${of}/`)))
      .map((rule) => `${rule} ${of}`),
  );
  expect(idle).toEqual([]);
});

test('every reason is a sentence, and no rule has two reasons in one place', () => {
  for (const { of, reason } of acknowledgements) expect(reason.length, of).toBeGreaterThan(40);
  const pairs = acknowledgements.flatMap(({ of, rules }) => rules.map((rule) => `${rule} ${of}`));
  expect(new Set(pairs).size).toBe(pairs.length);
});
