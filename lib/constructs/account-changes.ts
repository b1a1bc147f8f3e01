import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { DataStack } from '../stacks/data-stack.ts';
import { allow } from './function-role.ts';
import type { GatewayFunction } from './gateway-function.ts';

export interface AccountChangesProps {
  readonly built: Pick<GatewayFunction, 'lambda'>;
  readonly data: DataStack;
  /** Name of the queue. */
  readonly queueName: string;
  /** Pattern of the records that the function gets. */
  readonly filter: Record<string, unknown>;
  /** Tries of a record. Undefined: until it is too old. */
  readonly retryAttempts?: number;
  /** Less than a day, after which the stream drops a record: the queue would stay empty. */
  readonly maxRecordAge: Duration;
}

/**
 * Calls a function with changes of the accounts table, and keeps failed ones in a queue. A table supports two such
 * readers, and more would be throttled: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export class AccountChanges extends Construct {
  readonly failed: Queue;

  /** Throws an Error for a table without a stream. */
  constructor(scope: Construct, id: string, props: AccountChangesProps) {
    super(scope, id);
    const { built, data, queueName, filter, retryAttempts, maxRecordAge } = props;
    const { tableArn, tableStreamArn } = data.tables.accounts;
    if (tableStreamArn === undefined) throw new Error('The accounts table has no stream.');
    this.failed = new Queue(this, 'failed', {
      queueName,
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
      // Records read twice do no harm: a chat stores the version of its last notification, and events have fixed ids.
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [FilterCriteria.filter(filter)],
      batchSize: 100,
      // Each request writes several items. A longer window reduces the number of invocations, and nothing here is
      // urgent.
      maxBatchingWindow: Duration.seconds(5),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      ...(retryAttempts === undefined ? {} : { retryAttempts }),
      maxRecordAge,
      // CDK's own destination would also allow the function to read the queue's attributes.
      onFailure: { bind: () => ({ destination: this.failed.queueArn }) },
    });
  }
}
