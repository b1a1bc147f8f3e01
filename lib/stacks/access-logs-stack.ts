import { ArnFormat } from 'aws-cdk-lib';
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { addLogGroup } from '../constructs/function-role.ts';
import { EDGE_REGION } from '../edge/edge-region.ts';
import type { EdgeStack } from './edge-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

export interface AccessLogsStackProps extends GatewayStackProps {
  readonly edge: EdgeStack;
}

/**
 * What is written down of a request at the edge. Never a query, where a key may stand, nor what else may repeat one: cookies and the
 * address of the page that a client comes from. Nor a path: the name of an image is all that is asked of whoever fetches it.
 */
const fields = [
  'timestamp(ms)',
  'c-ip',
  'cs-method',
  'x-host-header',
  'sc-status',
  'cs-bytes',
  'sc-bytes',
  'time-taken',
  'time-to-first-byte',
  'x-edge-location',
  'x-edge-request-id',
  'x-edge-result-type',
  'x-edge-detailed-result-type',
  'cs-protocol-version',
  'ssl-protocol',
];

/** CloudFront's log is delivered from us-east-1 wherever the rest stands, and only once there is a distribution. */
export class AccessLogsStack extends GatewayStack {
  constructor(scope: Construct, id: string, props: AccessLogsStackProps) {
    const { environment, prefix, edge } = props;
    super(scope, id, props, { region: EDGE_REGION, crossRegionReferences: true });
    const name = `${prefix}-edge`;
    // Groups with this beginning share one policy that AWS keeps.
    const log = addLogGroup(this, `/aws/vendedlogs/cloudfront/${prefix}`, environment);
    const source = new CfnDeliverySource(this, 'source', {
      name,
      logType: 'ACCESS_LOGS',
      resourceArn: this.formatArn({
        service: 'cloudfront',
        region: '',
        resource: 'distribution',
        resourceName: edge.distributionId,
        arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
      }),
    });
    const destination = new CfnDeliveryDestination(this, 'destination', {
      name,
      destinationResourceArn: log.logGroupArn,
      outputFormat: 'json',
    });
    const delivery = new CfnDelivery(this, 'delivery', {
      deliverySourceName: name,
      deliveryDestinationArn: destination.attrArn,
      recordFields: fields,
    });
    delivery.node.addDependency(source);
  }
}
