import { Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { letPublish } from './alarm-topics.ts';

/**
 * Adds a monthly budget for the bill of the whole AWS account. It notifies once when actual costs exceed it, and once
 * when AWS forecasts that they will.
 */
export const addBudget = (
  scope: Construct,
  { prefix, topic, usdPerMonth }: { readonly prefix: string; readonly topic: Topic; readonly usdPerMonth: number },
): CfnBudget => {
  const { account, partition } = Stack.of(scope);
  letPublish(topic, 'budgets', `arn:${partition}:budgets::${account}:*`);
  return new CfnBudget(scope, 'budget', {
    budget: {
      budgetName: `${prefix}-monthly`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: usdPerMonth, unit: 'USD' },
    },
    notificationsWithSubscribers: (['ACTUAL', 'FORECASTED'] as const).map((notificationType) => ({
      notification: {
        notificationType,
        comparisonOperator: 'GREATER_THAN',
        threshold: 100,
        thresholdType: 'PERCENTAGE',
      },
      subscribers: [{ subscriptionType: 'SNS', address: topic.topicArn }],
    })),
  });
};
