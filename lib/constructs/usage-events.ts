import { Duration } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { FilterRule } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Environment } from '../environment-schema.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import { AccountChanges } from './account-changes.ts';
import { allow } from './function-role.ts';
import { usageBusName } from './function-settings.ts';
import type { GatewayFunction } from './gateway-function.ts';

export interface UsageEventsProps {
  readonly built: Pick<GatewayFunction, 'lambda'>;
  readonly data: DataStack;
  /** Prefix of all names. */
  readonly prefix: string;
  readonly usageEvents: NonNullable<Environment['usageEvents']>;
}

/** Calls a function with new charge records, and lets it publish them to an event bus (OPS-20). */
export class UsageEvents extends Construct {
  /** Charge records whose event was not published, for the operator. */
  readonly failed: Queue;
  readonly busArn: string;

  constructor(scope: Construct, id: string, { built, data, prefix, usageEvents }: UsageEventsProps) {
    super(scope, id);
    this.busArn =
      usageEvents.kind === 'existing'
        ? usageEvents.eventBusArn
        : new EventBus(this, 'bus', { eventBusName: usageBusName(prefix) }).eventBusArn;
    built.lambda.addToRolePolicy(allow(['events:PutEvents'], this.busArn));
    this.failed = new AccountChanges(this, 'charges', {
      built,
      data,
      queueName: `${prefix}-failed-usage-events`,
      filter: newCharges,
      // Only an unreachable bus fails records, so all of them wait for it as long as the stream keeps them.
      maxRecordAge: Duration.hours(23),
    }).failed;
  }
}

/** Matches new charge records, which never change. */
const newCharges = {
  eventName: FilterRule.isEqual('INSERT'),
  dynamodb: { Keys: { sk: { S: FilterRule.beginsWith('CHARGE#') } } },
};
