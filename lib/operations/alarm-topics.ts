import { Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SubscriptionProtocol, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { type Severity, severities } from './alarm-row.ts';

export type AlarmTopics = Readonly<Record<Severity, Topic>>;

/** Returns the name of a topic. It is the same in every region, so that the chat channels need no reference. */
export const topicNameOf = (prefix: string, severity: Severity): string => `${prefix}-${severity}`;

/**
 * Adds a topic for each severity, with its mail and HTTPS subscriptions. Messages contain no secrets, only alarm names,
 * numbers and links. So the topics are not encrypted: CloudWatch may not use the AWS-managed key, and a
 * customer-managed key would cost more than all alarms.
 * https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
 */
export const addAlarmTopics = (scope: Construct, prefix: string, alarms: Environment['alarms']): AlarmTopics => {
  const add = (severity: Severity): Topic => {
    const topic = new Topic(scope, severity, { topicName: topicNameOf(prefix, severity), enforceSSL: true });
    // A custom policy replaces the default one, so it must allow CloudWatch alarms of this account to publish.
    const { account, region, partition } = Stack.of(scope);
    letPublish(topic, 'cloudwatch', `arn:${partition}:cloudwatch:${region}:${account}:alarm:*`);
    const { mail, https } = alarms[severity];
    for (const address of mail) topic.addSubscription(new EmailSubscription(address));
    for (const url of https) topic.addSubscription(new UrlSubscription(url, { protocol: SubscriptionProtocol.HTTPS }));
    return topic;
  };
  const [page, ticket] = severities;
  return { [page]: add(page), [ticket]: add(ticket) };
};

/** Lets an AWS service publish to the topic on behalf of a source in this account. */
export const letPublish = (topic: Topic, service: string, source: string): void => {
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: `${service}Publishes`,
      effect: Effect.ALLOW,
      principals: [new ServicePrincipal(`${service}.amazonaws.com`)],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: {
        StringEquals: { 'aws:SourceAccount': Stack.of(topic).account },
        ArnLike: { 'aws:SourceArn': source },
      },
    }),
  );
};
