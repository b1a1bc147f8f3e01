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
 * Fields in the access log of the edge. Excludes the query, cookies and the referrer, which may contain keys. Excludes
 * the path, because the name of an image is enough to read it.
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

/** Access log of CloudFront. AWS delivers it in us-east-1 only, and only for an existing distribution. */
export class AccessLogsStack extends GatewayStack {
  constructor(scope: Construct, id: string, props: AccessLogsStackProps) {
    const { environment, prefix, edge } = props;
    super(scope, id, props, {
      description: 'Model gateway: the access log of CloudFront, which AWS delivers in us-east-1.',
      region: EDGE_REGION,
      crossRegionReferences: true,
    });
    const name = `${prefix}-edge`;
    // Log groups with this prefix share one resource policy that AWS maintains.
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
