import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { EDGE_REGION } from '../edge/edge-region.ts';
import { addAlarms, addComposite } from '../operations/add-alarms.ts';
import { addBudget } from '../operations/add-budget.ts';
import type { AlarmRow } from '../operations/alarm-row.ts';
import { addAlarmTopics } from '../operations/alarm-topics.ts';
import { addChatChannels } from '../operations/chat-channels.ts';
import { addDashboards } from '../operations/dashboards.ts';
import { edgeAlarms, originSecretAlarms, restApiAlarms } from '../operations/edge-alarms.ts';
import { marginAlarms } from '../operations/margin-alarms.ts';
import { moneyAlarms, moneyIsWrong } from '../operations/money-alarms.ts';
import { objectiveAlarms } from '../operations/objectives.ts';
import { type OwnMetric, ownMetricsOf } from '../operations/own-metric.ts';
import { serviceAlarms } from '../operations/service-alarms.ts';
import type { Sources } from '../operations/sources.ts';
import { upstreamAlarms } from '../operations/upstream-alarms.ts';
import { GatewayStack } from './gateway-stack.ts';
import type { GlobalStack } from './global-stack.ts';

export interface OperationsStackProps extends Sources {
  /** Undefined unless CloudFront is the front door. */
  readonly global: GlobalStack | undefined;
}

/** Dashboards, alarms and the budget. */
export class OperationsStack extends GatewayStack {
  constructor(scope: Construct, id: string, props: OperationsStackProps) {
    const { environment, prefix } = props;
    super(scope, id, props, {
      description: 'Model gateway: dashboards, alarms with their topics and chat channels, and the budget.',
      crossRegionReferences: true,
    });
    const { alarms, alarmActions: actionsEnabled, budgetUsdPerMonth: usdPerMonth, region } = environment;
    const topics = addAlarmTopics(this, prefix, alarms);
    addChatChannels(this, { prefix, alarms, regions: props.edge ? [...new Set([region, EDGE_REGION])] : [region] });
    const own = ownMetricsOf(prefix);
    const objectives = objectiveAlarms(own, props);
    const alarmProps = { prefix, topics, actionsEnabled };
    const added = addAlarms(this, alarmProps, [...rowsOf(own, props), ...objectives.rows]);
    for (const composite of [moneyIsWrong, ...objectives.composites]) addComposite(this, alarmProps, added, composite);
    addDashboards(this, own, props);
    if (usdPerMonth !== undefined) addBudget(this, { prefix, topic: topics.ticket, usdPerMonth });
    new CfnOutput(this, 'pageTopicArn', { value: topics.page.topicArn });
    new CfnOutput(this, 'ticketTopicArn', { value: topics.ticket.topicArn });
  }
}

const rowsOf = (own: OwnMetric, props: OperationsStackProps): readonly AlarmRow[] => [
  ...moneyAlarms(own),
  ...marginAlarms(own, soldModels()),
  ...serviceAlarms(own, props),
  ...upstreamAlarms(own),
  ...frontDoorAlarms(own, props),
];

/** Ids of the enabled models, which have a margin. */
const soldModels = (): readonly string[] =>
  loadCatalog(catalogData)
    .entries.filter(({ enabled }) => enabled)
    .map(({ id }) => id);

/**
 * Returns the alarms on the front door. Those on CloudFront must be in us-east-1: an environment in another region has
 * a separate stack for them.
 */
const frontDoorAlarms = (own: OwnMetric, { environment, prefix, api, edge, global }: OperationsStackProps) => {
  const { region } = environment;
  if (api.restApi) {
    const { stage, certificateArn } = api.restApi;
    return restApiAlarms(prefix, { region, stage, certificateArn });
  }
  if (!edge || !global) return [];
  const here =
    region === EDGE_REGION
      ? edgeAlarms({ prefix, distributionId: edge.distributionId, certificateArn: global.certificateArn })
      : [];
  return [...originSecretAlarms(own), ...here];
};
