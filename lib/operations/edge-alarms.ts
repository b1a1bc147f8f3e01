import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { EDGE_REGION } from '../edge/edge-region.ts';
import type { AlarmRow } from './alarm-row.ts';
import type { OwnMetric } from './own-metric.ts';

const PERIOD = Duration.minutes(5);

export interface EdgeAlarmProps {
  readonly prefix: string;
  readonly distributionId: string;
  /** Undefined without a domain. */
  readonly certificateArn: string | undefined;
}

export const distributionMetric = (distributionId: string, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: 'Average',
    period: PERIOD,
    region: EDGE_REGION,
  });

/** Returns a metric of the firewall. Without a region, it is CloudFront's firewall. */
export const firewallMetric = (prefix: string, metricName: string, region?: string): Metric =>
  new Metric({
    namespace: 'AWS/WAFV2',
    metricName,
    dimensionsMap: { WebACL: `${prefix}-firewall`, Rule: 'ALL', ...(region === undefined ? {} : { Region: region }) },
    statistic: 'Sum',
    period: PERIOD,
    region: region ?? EDGE_REGION,
  });

export const edgeAlarms = ({ prefix, distributionId, certificateArn }: EdgeAlarmProps): readonly AlarmRow[] => [
  edgeRow(distributionMetric(distributionId, '5xxErrorRate'), 5),
  firewallRow(firewallMetric(prefix, 'BlockedRequests')),
  ...certificateRows(certificateArn, EDGE_REGION),
];

/** Alarms on the REST API, in the gateway's own region. */
export const restApiAlarms = (
  prefix: string,
  { region, stage, certificateArn }: { region: string; stage: string; certificateArn: string | undefined },
): readonly AlarmRow[] => [
  edgeRow(restApiMetric(prefix, stage, '5XXError'), 0.05),
  firewallRow(firewallMetric(prefix, 'BlockedRequests', region)),
  ...certificateRows(certificateArn, region),
];

const restApiMetric = (prefix: string, stage: string, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: prefix, Stage: stage },
    statistic: 'Average',
    period: PERIOD,
  });

/** Alarms that detect different origin secrets at the edge and in the functions. */
export const originSecretAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'direct-access',
    severity: 'page',
    metric: own('requests', { of: { code: 'direct_access_refused' } }),
    threshold: { least: 100 },
    reason: 'Clients try to bypass the edge, or the edge and the functions have different origin secrets.',
  },
];

/**
 * Alarm on the front door's 5xx rate. `least` is a percentage for CloudFront and a fraction for API Gateway. It
 * includes the front door's own failures, such as an unreachable function.
 */
const edgeRow = (metric: Metric, least: number): AlarmRow => ({
  id: 'edge-errors',
  severity: 'page',
  metric,
  threshold: { least },
  periods: 3,
  reason: 'Clients notice a failure rate of 5 % for 15 minutes.',
});

const firewallRow = (metric: Metric): AlarmRow => ({
  id: 'firewall-blocks',
  severity: 'ticket',
  metric,
  threshold: { least: 5_000 },
  periods: 3,
  reason: 'A single overeager client does not cause 1,000 blocked requests per minute for 15 minutes.',
});

const certificateRows = (certificateArn: string | undefined, region: string): readonly AlarmRow[] =>
  certificateArn === undefined
    ? []
    : [
        {
          id: 'certificate-expiry',
          severity: 'ticket',
          metric: new Metric({
            namespace: 'AWS/CertificateManager',
            metricName: 'DaysToExpiry',
            dimensionsMap: { CertificateArn: certificateArn },
            statistic: 'Minimum',
            period: Duration.days(1),
            region,
          }),
          threshold: { below: 30 },
          reason: 'AWS renews its certificates 60 days before expiry, so at 30 days the renewal has failed.',
        },
      ];
