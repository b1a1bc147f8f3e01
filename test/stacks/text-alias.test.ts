import { expect, test } from 'vitest';
import { environmentNames, environments, parseEnvironment } from '../../lib/environments.ts';
import { moneyAlarmIds } from '../../lib/operations/money-alarms.ts';
import { nameOf, ofType, only, type Synthesized, synthesize, type Variant } from './synthesize.ts';

/** Template of the alias, with what CloudFormation does when its version changes. */
const aliasOf = ({ template }: Synthesized) => {
  const [alias, ...others] = Object.values(template.findResources('AWS::Lambda::Alias'));
  expect(others).toEqual([]);
  return alias ?? {};
};

const textOf = ({ resources }: Synthesized): string =>
  [...resources].find(([, resource]) => resource.Properties.FunctionName === 'gateway-prod-text')?.[0] ?? '';

test.each<Variant>(['cloudfront', 'api-gateway', 'none'])(
  'OPS-17 clients call the alias of the text function: %s',
  (variant) => {
    const { api } = synthesize('prod', variant);
    const text = textOf(api);
    expect(aliasOf(api)).toMatchObject({ Properties: { Name: 'live', FunctionName: { Ref: text } } });
    const [aliasId] = [...api.resources].find(([, { Type }]) => Type === 'AWS::Lambda::Alias') ?? [];
    const callers = ofType(api, 'AWS::Lambda::Permission').filter(({ Properties }) =>
      JSON.stringify(Properties.FunctionName).includes(`"${aliasId}"`),
    );
    expect(callers.length).toBeGreaterThan(0);
    if (variant === 'api-gateway') return;
    const urls = ofType(api, 'AWS::Lambda::Url').filter((url) => nameOf(url).startsWith('text/'));
    expect(urls.map(({ Properties }) => Properties.Qualifier ?? 'latest').toSorted()).toEqual(['latest', 'live']);
    const [shown] = Object.entries(api.outputs).filter(([name]) => name === 'textUrl');
    expect(JSON.stringify(shown)).toContain('Aliaslive');
  },
);

test('OPS-17 a version of the text function stays after the next deployment', () => {
  const { api } = synthesize('prod');
  expect(ofType(api, 'AWS::Lambda::Version').map(({ DeletionPolicy }) => DeletionPolicy)).toEqual([
    'RetainExceptOnCreate',
  ]);
});

test('OPS-17 prod and staging shift requests to a new version, and dev does not', () => {
  expect(environmentNames.map((name) => environments[name].textShift)).toEqual(['off', 'canary', 'canary']);
  const dev = synthesize('dev').api;
  expect(aliasOf(dev).UpdatePolicy).toBeUndefined();
  for (const type of ['Application', 'DeploymentGroup']) expect(ofType(dev, `AWS::CodeDeploy::${type}`)).toEqual([]);
});

test('OPS-17 the alarms that end a shift exist under the names that the alias uses', () => {
  const { api, operations } = synthesize('prod');
  const group = only(api, 'AWS::CodeDeploy::DeploymentGroup');
  const there = ofType(operations, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmName);
  for (const id of moneyAlarmIds) {
    expect(JSON.stringify(group.Properties.AlarmConfiguration)).toContain(`"gateway-prod-${id}"`);
    expect(there).toContain(`gateway-prod-${id}`);
  }
});

test('OPS-17 a shift of a function that serves nothing is rejected', () => {
  const environment = { ...environments.prod, inferenceHost: 'web-function' };
  expect(() => parseEnvironment(environment, 'prod')).toThrow('prod.textShift: has no effect');
});
