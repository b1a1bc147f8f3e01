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
  /** Before the queue's name. */
  readonly prefix: string;
}

/** Calls a function with the writes of accounts that somebody can be told of, and keeps what it could not do in a queue. */
export class AccountChanges extends Construct {
  readonly failed: Queue;

  /** Throws an Error for a table without a stream. */
  constructor(scope: Construct, id: string, { built, data, prefix }: AccountChangesProps) {
    super(scope, id);
    const { tableArn, tableStreamArn } = data.tables.accounts;
    if (tableStreamArn === undefined) throw new Error('the accounts table has no stream');
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
    // Lambda insists on this one too. It names no stream when it is called, so that one stream's ARN may not be enough.
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-example-lamda-process-dynamodb-streams.html
    lambda.addToRolePolicy(allow(['dynamodb:ListStreams'], `${tableArn}/stream/*`));
    lambda.addToRolePolicy(allow(['sqs:SendMessage'], this.failed.queueArn));
    new EventSourceMapping(this, 'mapping', {
      target: lambda,
      eventSourceArn: tableStreamArn,
      // A mapping begins to read minutes after it was made, and the newest records of that time would be lost. What is read twice
      // is told once, since every chat carries the version that was told last.
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [FilterCriteria.filter(tellable)],
      batchSize: 100,
      // A request makes two writes of its account: fewer runs, for notices that nobody waits for.
      maxBatchingWindow: Duration.seconds(5),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // Both ends are needed: a messenger that is down for long, and a record that nobody can read, each hold up their shard.
      retryAttempts: 100,
      maxRecordAge: Duration.hours(6),
      // CDK's own destination would also let the function look the queue up.
      onFailure: { bind: () => ({ destination: this.failed.queueArn }) },
    });
  }
}

/** Of accounts with a chat: neither records of charges and credits, nor accounts that begin. */
const tellable = {
  eventName: FilterRule.isEqual('MODIFY'),
  dynamodb: {
    Keys: { sk: { S: FilterRule.isEqual('ACCOUNT') } },
    NewImage: { chat: { S: FilterRule.exists() } },
  },
};
