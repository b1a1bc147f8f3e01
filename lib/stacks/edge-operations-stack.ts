import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { EDGE_REGION } from '../edge/edge-region.ts';
import { addAlarms } from '../operations/add-alarms.ts';
import { addAlarmTopics } from '../operations/alarm-topics.ts';
import { edgeAlarms } from '../operations/edge-alarms.ts';
import type { EdgeStack } from './edge-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';
import type { GlobalStack } from './global-stack.ts';

export interface EdgeOperationsStackProps extends GatewayStackProps {
  readonly global: GlobalStack;
  readonly edge: EdgeStack;
}

/**
 * Alarms on CloudFront for an environment in another region. An alarm uses metrics and topics of its own region only,
 * so every recipient must confirm a second subscription. The stack `operations` adds the chat channels.
 */
export class EdgeOperationsStack extends GatewayStack {
  constructor(scope: Construct, id: string, props: EdgeOperationsStackProps) {
    const { environment, prefix, global, edge } = props;
    super(scope, id, props, {
      description: 'Model gateway: alarms on CloudFront with their topics, which AWS requires in us-east-1.',
      region: EDGE_REGION,
      crossRegionReferences: true,
    });
    const { alarms, alarmActions: actionsEnabled } = environment;
    const topics = addAlarmTopics(this, prefix, alarms);
    const rows = edgeAlarms({ prefix, distributionId: edge.distributionId, certificateArn: global.certificateArn });
    addAlarms(this, { prefix, topics, actionsEnabled }, rows);
    new CfnOutput(this, 'pageTopicArn', { value: topics.page.topicArn });
    new CfnOutput(this, 'ticketTopicArn', { value: topics.ticket.topicArn });
  }
}
