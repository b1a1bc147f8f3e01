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

/** A firewall is called as what it guards. Without a region it is CloudFront's. */
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

/** In the gateway's own region. */
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

/** Where the edge and the functions may know different secrets. */
export const originSecretAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'direct-access',
    metric: own('requests', { of: { code: 'direct_access_refused' } }),
    threshold: { least: 100 },
    reason: 'Somebody tries the functions without the edge, or edge and functions have different secrets.',
  },
];

/** One counts in percent, the other in parts of 1. Its own failures are in it, such as a function that it does not reach. */
const edgeRow = (metric: Metric, least: number): AlarmRow => ({
  id: 'edge-errors',
  metric,
  threshold: { least },
  periods: 3,
  reason: 'One answer in twenty for a quarter of an hour is what clients notice.',
});

const firewallRow = (metric: Metric): AlarmRow => ({
  id: 'firewall-blocks',
  metric,
  threshold: { least: 5_000 },
  periods: 3,
  reason: 'A thousand a minute for a quarter of an hour are no client that repeats too eagerly.',
});

const certificateRows = (certificateArn: string | undefined, region: string): readonly AlarmRow[] =>
  certificateArn === undefined
    ? []
    : [
        {
          id: 'certificate-expiry',
          metric: new Metric({
            namespace: 'AWS/CertificateManager',
            metricName: 'DaysToExpiry',
            dimensionsMap: { CertificateArn: certificateArn },
            statistic: 'Minimum',
            period: Duration.days(1),
            region,
          }),
          threshold: { below: 30 },
          reason: 'AWS renews its own 60 days before their end, so that at 30 it has failed to.',
        },
      ];
