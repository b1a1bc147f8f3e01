import { Stack } from 'aws-cdk-lib';
import { CfnMicrosoftTeamsChannelConfiguration, CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { severities } from './alarm-row.ts';
import type { ChatChannel } from './alarm-targets.ts';
import { topicNameOf } from './alarm-topics.ts';

export interface ChatChannelProps {
  readonly prefix: string;
  readonly alarms: Environment['alarms'];
  /** Regions with topics. */
  readonly regions: readonly string[];
}

/**
 * Sends alarms to chat channels. AWS accepts one configuration per channel and account, so a channel has one for both
 * severities and all regions. The topics must exist before it.
 * https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1155
 */
export const addChatChannels = (scope: Construct, { prefix, alarms, regions }: ChatChannelProps): void => {
  const { partition, account } = Stack.of(scope);
  const topicsOf = (channel: string): string[] =>
    severities
      .filter((severity) => alarms[severity].chat.some((other) => JSON.stringify(other) === channel))
      .flatMap((severity) =>
        regions.map((region) => `arn:${partition}:sns:${region}:${account}:${topicNameOf(prefix, severity)}`),
      );
  const channels = new Map(
    severities.flatMap((severity) => alarms[severity].chat).map((channel) => [JSON.stringify(channel), channel]),
  );
  if (channels.size === 0) return;
  // Without permissions, and the guardrail denies those of a later change: messages are text, and commands do nothing.
  const role = new Role(scope, 'chat-role', { assumedBy: new ServicePrincipal('chatbot.amazonaws.com') });
  for (const [index, [text, channel]] of [...channels].entries()) {
    const configuration = addChannel(scope, `chat-${index + 1}`, channel, {
      configurationName: `${prefix}-alarms-${index + 1}`,
      iamRoleArn: role.roleArn,
      guardrailPolicies: [`arn:${partition}:iam::aws:policy/AWSDenyAll`],
      snsTopicArns: topicsOf(text),
    });
    for (const severity of severities) configuration.node.addDependency(scope.node.findChild(severity));
  }
};

interface Common {
  readonly configurationName: string;
  readonly iamRoleArn: string;
  readonly guardrailPolicies: string[];
  readonly snsTopicArns: string[];
}

const addChannel = (scope: Construct, id: string, channel: ChatChannel, common: Common): Construct =>
  channel.kind === 'slack'
    ? new CfnSlackChannelConfiguration(scope, id, {
        ...common,
        slackWorkspaceId: channel.workspaceId,
        slackChannelId: channel.channelId,
      })
    : new CfnMicrosoftTeamsChannelConfiguration(scope, id, {
        ...common,
        teamsTenantId: channel.tenantId,
        teamId: channel.teamId,
        teamsChannelId: channel.channelId,
      });
