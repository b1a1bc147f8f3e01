import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { DataStack } from '../stacks/data-stack.ts';
import { allow } from './function-role.ts';
import type { GatewayFunction } from './gateway-function.ts';

export interface AccountChangesProps {
  readonly built: Pick<GatewayFunction, 'lambda'>;
  readonly data: DataStack;
  /** Prefix of the queue's name. */
  readonly prefix: string;
}

/** Calls a function with account changes that may need a notification, and keeps failed ones in a queue. */
export class AccountChanges extends Construct {
  readonly failed: Queue;

  /** Throws an Error for a table without a stream. */
  constructor(scope: Construct, id: string, { built, data, prefix }: AccountChangesProps) {
    super(scope, id);
    const { tableArn, tableStreamArn } = data.tables.accounts;
    if (tableStreamArn === undefined) throw new Error('The accounts table has no stream.');
    this.failed = new Queue(this, 'failed', {
      queueName: `${prefix}-failed-account-changes`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const { lambda } = built;
    lambda.addToRolePolicy(
      allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], tableStreamArn),
    );
    // Lambda requires this action too. Its request names no stream, so one stream's ARN might not match.
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-example-lamda-process-dynamodb-streams.html
    lambda.addToRolePolicy(allow(['dynamodb:ListStreams'], `${tableArn}/stream/*`));
    lambda.addToRolePolicy(allow(['sqs:SendMessage'], this.failed.queueArn));
    new EventSourceMapping(this, 'mapping', {
      target: lambda,
      eventSourceArn: tableStreamArn,
      // A mapping starts to read minutes after its creation, and LATEST would lose the records written until then.
      // Records read twice cause no second notification: each chat stores the version it was last notified of.
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [FilterCriteria.filter(tellable)],
      batchSize: 100,
      // Each request writes its account twice. A longer window reduces the number of invocations, and notifications are
      // not urgent.
      maxBatchingWindow: Duration.seconds(5),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // Limit both tries and age: an unreachable messenger or an unreadable record would block its shard.
      retryAttempts: 100,
      maxRecordAge: Duration.hours(6),
      // CDK's own destination would also allow the function to read the queue's attributes.
      onFailure: { bind: () => ({ destination: this.failed.queueArn }) },
    });
  }
}

/** Matches changes of accounts with a bot chat. Excludes charge and credit records, and new accounts. */
const tellable = {
  eventName: FilterRule.isEqual('MODIFY'),
  dynamodb: {
    Keys: { sk: { S: FilterRule.isEqual('ACCOUNT') } },
    NewImage: { chat: { S: FilterRule.exists() } },
  },
};
