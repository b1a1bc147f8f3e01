import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { alarmTargets } from '../../../lib/operations/alarm-targets.ts';
import { addAlarmTopics } from '../../../lib/operations/alarm-topics.ts';
import { addChatChannels } from '../../../lib/operations/chat-channels.ts';

const slack = (channelId: string) => ({ kind: 'slack', workspaceId: 'T0123ABCD', channelId }) as const;

const templateOf = (targets: Parameters<typeof alarmTargets.parse>[0]) => {
  const stack = new Stack(new App(), 'stack', { env: { account: '123456789012', region: 'us-east-1' } });
  const alarms = alarmTargets.parse(targets);
  addAlarmTopics(stack, 'prod', alarms);
  addChatChannels(stack, { prefix: 'prod', alarms, regions: ['us-east-1'] });
  return Template.fromStack(stack);
};

test('OPS-3 a channel gets the topics of the severities that name it, after the topics exist', () => {
  const template = templateOf({
    page: { chat: [slack('C1')] },
    ticket: { chat: [slack('C2'), slack('C1')] },
  });
  const channels = Object.values(template.findResources('AWS::Chatbot::SlackChannelConfiguration'));
  const severitiesOf = (topics: unknown) =>
    [...JSON.stringify(topics).matchAll(/:prod-(\w+)/g)].map(([, name]) => name);
  expect(channels.map(({ Properties }) => [Properties.SlackChannelId, severitiesOf(Properties.SnsTopicArns)])).toEqual([
    ['C1', ['page', 'ticket']],
    ['C2', ['ticket']],
  ]);
  const topics = Object.keys(template.findResources('AWS::SNS::Topic'));
  for (const { DependsOn } of channels) expect(DependsOn).toEqual(expect.arrayContaining(topics));
});

test('OPS-3 without channels there is neither a configuration nor a role', () => {
  const template = templateOf({});
  template.resourceCountIs('AWS::IAM::Role', 0);
  template.resourceCountIs('AWS::Chatbot::SlackChannelConfiguration', 0);
});
