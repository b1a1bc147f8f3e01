import type { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { acknowledge, acknowledgements } from '../../lib/acknowledgements.ts';
import { environments, parseEnvironment } from '../../lib/environments.ts';
import { addGateway } from '../../lib/gateway.ts';
import { newApp } from './synthesize.ts';

const hostedZone = { id: 'Z0123456789', name: 'example.com' };
const domain = { name: 'api.example.com', hostedZone };

/** Every stack that there may be, each in every form. */
const variants = {
  'behind CloudFront': { frontDoor: 'cloudfront' },
  'behind CloudFront, with a domain': { frontDoor: 'cloudfront', domain },
  'behind CloudFront, in Europe': { frontDoor: 'cloudfront', region: 'eu-central-1' },
  'behind API Gateway': { frontDoor: 'api-gateway' },
  'behind API Gateway, with a domain': { frontDoor: 'api-gateway', domain },
  'behind nothing, with inference in a Web Function': { frontDoor: 'none', inferenceHost: 'web-function' },
} as const;

const appOf = (change: object): App => {
  const app = newApp({ bundling: false });
  addGateway(app, 'prod', parseEnvironment({ ...environments.prod, ...change }));
  return app;
};

/** As `rule path`, with the region and the prefix as the table of reasons has them. Only synthesis ties the stacks together. */
const findingsOf = (app: App, region: string): readonly string[] => {
  app.synth();
  return new AwsSolutionsChecks(app).validateScope(app).violations.flatMap(({ ruleName, violatingResources }) => {
    const rule = ruleName
      .replace('AwsSolutions-', '')
      .replaceAll(region, '<region>')
      .replaceAll('gateway-prod-', '<prefix>-');
    return violatingResources.map(({ constructPath }) => `${rule} ${constructPath}`);
  });
};

test.each(Object.entries(variants))('OPS-1 cdk-nag finds nothing that is not answered for: %s', (_what, change) => {
  const app = appOf(change);
  acknowledge(app);
  expect(findingsOf(app, 'nowhere')).toEqual([]);
});

test('every reason is still needed: without it something would be found', () => {
  const found = Object.values(variants).flatMap((change) =>
    findingsOf(appOf(change), { ...environments.prod, ...change }.region),
  );
  const idle = acknowledgements.flatMap(({ of, rules }) =>
    rules
      .filter((rule) => !found.some((finding) => `${finding}/`.startsWith(`${rule} prod/${of}/`)))
      .map((rule) => `${rule} ${of}`),
  );
  expect(idle).toEqual([]);
});

test('every reason says something, and no rule is answered for twice in one place', () => {
  for (const { of, reason } of acknowledgements) expect(reason.length, of).toBeGreaterThan(40);
  const pairs = acknowledgements.flatMap(({ of, rules }) => rules.map((rule) => `${rule} ${of}`));
  expect(new Set(pairs).size).toBe(pairs.length);
});
