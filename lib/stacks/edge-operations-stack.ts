import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { addAlarms } from '../operations/add-alarms.ts';
import { addAlarmTopic } from '../operations/alarm-topic.ts';
import { EDGE_REGION, edgeAlarms } from '../operations/edge-alarms.ts';
import type { EdgeStack } from './edge-stack.ts';
import type { GlobalStack } from './global-stack.ts';

export interface EdgeOperationsStackProps {
  readonly environment: Environment;
  /** Before the stack's name. */
  readonly prefix: string;
  readonly global: GlobalStack;
  readonly edge: EdgeStack;
}

/**
 * The alarms on CloudFront, for an environment in another region: an alarm sees the metrics of its own region only, and calls by topics
 * of that region only. So each address has to confirm a second time.
 */
export class EdgeOperationsStack extends Stack {
  constructor(scope: Construct, id: string, { environment, prefix, global, edge }: EdgeOperationsStackProps) {
    super(scope, id, {
      env: { region: EDGE_REGION },
      crossRegionReferences: true,
      stackName: `${prefix}-${id}`,
      terminationProtection: environment.terminationProtection,
    });
    const topic = addAlarmTopic(this, environment.alarmAddresses);
    const { distributionId } = edge;
    addAlarms(this, { prefix, topic }, edgeAlarms({ prefix, distributionId, certificateArn: global.certificateArn }));
    new CfnOutput(this, 'alarmTopicArn', { value: topic.topicArn });
  }
}
