import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** Told of once what has been spent passes it, and once AWS foresees that it will. It is the bill of the whole AWS account. */
export const addBudget = (
  scope: Construct,
  { prefix, topic, usdPerMonth }: { readonly prefix: string; readonly topic: ITopic; readonly usdPerMonth: number },
): CfnBudget =>
  new CfnBudget(scope, 'budget', {
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
