import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { LiveAlias, type LiveAliasProps } from '../../../lib/constructs/live-alias.ts';

/** Returns the resources of a stack with one function and its alias, by type. */
const resourcesWith = (textShift: LiveAliasProps['textShift'], code = 'one') => {
  const stack = new Stack(new App({ analyticsReporting: false }), 'api');
  const lambda = new LambdaFunction(stack, 'text', {
    functionName: 'gateway-dev-text',
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline(code),
  });
  new LiveAlias(stack, 'text-live', { lambda, functionName: 'gateway-dev-text', prefix: 'gateway-dev', textShift });
  const template = Template.fromStack(stack);
  return (type: string) => Object.entries(template.findResources(`AWS::${type}`));
};

test('OPS-17 an alias without a shift moves all requests, and has no alarm', () => {
  const resources = resourcesWith('off');
  expect(resources('Lambda::Alias')).toHaveLength(1);
  expect(resources('Lambda::Alias')[0]?.[1].UpdatePolicy).toBeUndefined();
  for (const type of ['CodeDeploy::DeploymentGroup', 'CloudWatch::Alarm', 'IAM::ManagedPolicy'])
    expect(resources(type)).toEqual([]);
});

test('OPS-17 a changed function has a new version, and only one that was rolled back is deleted', () => {
  const [one, other] = ['one', 'other'].map((code) => resourcesWith('off', code)('Lambda::Version'));
  expect(one?.[0]?.[0]).not.toBe(other?.[0]?.[0]);
  expect(one?.[0]?.[1]).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
});

test.each([
  ['canary', 'CodeDeployDefault.LambdaCanary10Percent5Minutes'],
  ['linear', 'CodeDeployDefault.LambdaLinear10PercentEvery1Minute'],
] as const)('OPS-17 a shift %s ends with errors of the new version or a money alarm', (textShift, config) => {
  const resources = resourcesWith(textShift);
  const [[groupId = '', group] = []] = resources('CodeDeploy::DeploymentGroup');
  const [[alarmId, alarm] = []] = resources('CloudWatch::Alarm');
  const money = ['audit-difference', 'settle-failures', 'orphaned-holds'];
  expect(group?.Properties).toMatchObject({
    DeploymentConfigName: config,
    AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
    AlarmConfiguration: {
      Enabled: true,
      Alarms: [{ Name: { Ref: alarmId } }, ...money.map((id) => ({ Name: `gateway-dev-${id}` }))],
    },
  });
  expect(group?.Properties.AlarmConfiguration.IgnorePollAlarmFailure).toBeUndefined();
  const [[versionId] = []] = resources('Lambda::Version');
  expect(alarm?.Properties).toMatchObject({
    AlarmName: 'gateway-dev-text-new-version',
    Dimensions: [
      { Name: 'ExecutedVersion', Value: { 'Fn::GetAtt': [versionId, 'Version'] } },
      { Name: 'FunctionName', Value: 'gateway-dev-text' },
      { Name: 'Resource', Value: 'gateway-dev-text:live' },
    ],
    Threshold: 2,
    TreatMissingData: 'notBreaching',
  });
  const [[, alias] = []] = resources('Lambda::Alias');
  expect(alias?.UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName).toEqual({ Ref: groupId });
  expect(alias?.DependsOn).toContain(groupId);
});
