import { Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';

/**
 * Who is called. Nothing in a message is secret: names of alarms, figures, and where to read on. So it is not encrypted: CloudWatch may
 * not use the key that AWS keeps for topics, and one of our own would cost more than all alarms that it carries.
 * https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
 */
export const addAlarmTopic = (scope: Construct, addresses: readonly string[]): Topic => {
  const topic = new Topic(scope, 'alarms', { enforceSSL: true });
  // A topic with a policy of its own loses the one that lets its account publish.
  const { account, region, partition } = Stack.of(scope);
  letPublish(topic, 'cloudwatch', `arn:${partition}:cloudwatch:${region}:${account}:alarm:*`);
  for (const address of addresses) topic.addSubscription(new EmailSubscription(address));
  return topic;
};

/** A service of AWS, for what of this account it names as the source. */
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
