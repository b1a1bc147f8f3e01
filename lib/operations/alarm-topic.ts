import { Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';

/**
 * Adds the topic for alarms, with an email subscription per address. Messages contain no secrets, only alarm names,
 * numbers and links. So the topic is not encrypted: CloudWatch may not use the AWS-managed key, and a customer-managed
 * key would cost more than all alarms. https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
 */
export const addAlarmTopic = (scope: Construct, addresses: readonly string[]): Topic => {
  const topic = new Topic(scope, 'alarms', { enforceSSL: true });
  // A custom policy replaces the default one, so it must allow CloudWatch alarms of this account to publish.
  const { account, region, partition } = Stack.of(scope);
  letPublish(topic, 'cloudwatch', `arn:${partition}:cloudwatch:${region}:${account}:alarm:*`);
  for (const address of addresses) topic.addSubscription(new EmailSubscription(address));
  return topic;
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
