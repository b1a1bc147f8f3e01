import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { standing } from '../../bin/costs/tables.ts';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { errorCodes } from '../../lambdas/core/errors/error-codes.ts';
import { GatewayError, limitNames } from '../../lambdas/core/errors/gateway-error.ts';
import { metrics } from '../../lambdas/core/metrics.ts';
import { routes } from '../../lambdas/routes.ts';
import { toSlug } from '../docs/markdown.ts';
import { sectionsOf } from '../docs/runbook-sections.ts';
import { inAlarms, inDashboards, metricsOfAlarm } from './operations-metrics.ts';
import {
  CHANNEL,
  environmentOf,
  nameOf,
  newApp,
  OPERATOR,
  ofType,
  PAGER,
  pointsAt,
  type Resource,
  readGateway,
  type Synthesized,
  synthesize,
} from './synthesize.ts';

const PREFIX = 'gateway-prod';

const edge = synthesize('prod', 'cloudfront with a domain');
const abroad = synthesize('prod', 'cloudfront of another region');
const rest = synthesize('prod', 'api-gateway');
const restNamed = synthesize('prod', 'api-gateway with a domain');
const plain = synthesize('prod', 'none');
const streamed = synthesize('prod', 'with usage events');

const stacks: readonly (readonly [string, Synthesized])[] = [
  ['cloudfront', edge.operations],
  ['cloudfront of another region', abroad.operations],
  ['its alarms in us-east-1', abroad.edgeOperations ?? abroad.operations],
  ['api-gateway', rest.operations],
  ['none', plain.operations],
  ['with usage events', streamed.operations],
];

const alarmsOf = (stack: Synthesized): readonly Resource[] => [
  ...ofType(stack, 'AWS::CloudWatch::Alarm'),
  ...ofType(stack, 'AWS::CloudWatch::CompositeAlarm'),
];
const idOf = ({ Properties }: Resource): string => String(Properties.AlarmName).slice(PREFIX.length + 1);
/** Returns the runbook section of an alarm. Alarms on one subject share one, and their ids start with it. */
const sectionOf = (alarm: Resource): string => {
  const [, section = ''] = /\. docs\/runbook\.md#(.+)$/.exec(String(alarm.Properties.AlarmDescription)) ?? [];
  expect(`${idOf(alarm)}-`).toMatch(new RegExp(`^${section}-`));
  return section;
};
const idsOf = (stack: Synthesized): readonly string[] => alarmsOf(stack).map(idOf);

/** Returns the severity of each topic, by its logical id. */
const topicsOf = (stack: Synthesized): ReadonlyMap<string, string> =>
  new Map(
    [...stack.resources].flatMap(([id, { Type, Properties }]) =>
      Type === 'AWS::SNS::Topic' ? [[id, String(Properties.TopicName).slice(PREFIX.length + 1)] as const] : [],
    ),
  );
const refsSchema = z.array(z.object({ Ref: z.string() })).default([]);
/** Returns the severity of the only topic in a list, or undefined for an empty list. */
const nameOfTopic = (refs: unknown, topics: ReadonlyMap<string, string>): string | undefined => {
  const [ref, ...others] = refsSchema.parse(refs);
  expect(others).toEqual([]);
  return ref && topics.get(ref.Ref);
};
const severityOf = ({ Properties }: Resource, topics: ReadonlyMap<string, string>): string | undefined =>
  nameOfTopic(Properties.AlarmActions, topics);

const metricSchema = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })).default([]),
});
const statsSchema = z.array(z.object({ MetricStat: z.object({ Metric: metricSchema }).optional() })).default([]);
/** Returns the metrics that an alarm reads, without its math expressions. */
const statsOf = (alarm: Resource | undefined) =>
  statsSchema.parse(alarm?.Properties.Metrics).flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);

const valuesOf: Readonly<Record<string, readonly string[]>> = {
  service: [PREFIX],
  code: ['ok', ...errorCodes],
  kind: ['none', ...Object.values(routes).map((route) => route.function)],
  limit: limitNames,
  model: loadCatalog(catalogData)
    .list(Date.UTC(2026, 10, 20))
    .map(({ id }) => id),
};

describe.each(stacks)('operations of %s', (_, stack) => {
  test('OPS-3 alarms and dashboards name only metrics that the code emits with these dimensions', () => {
    const table = new Map<string, { readonly dimensions: readonly string[] }>(metrics);
    for (const { where, name, dimensions } of [...inAlarms(stack), ...inDashboards(stack)]) {
      const emitted = table.get(name);
      expect({ where, name, dimensions: Object.keys(dimensions).toSorted() }).toEqual({
        where,
        name,
        dimensions: emitted && [...emitted.dimensions, 'service'].toSorted(),
      });
      for (const [dimension, value] of Object.entries(dimensions))
        if (value !== undefined) expect(valuesOf[dimension]).toContain(value);
      expect(dimensions.service).toBe(PREFIX);
    }
  });

  test('OPS-4 every alarm notifies one topic at its start and end, and names a runbook section', () => {
    const topics = topicsOf(stack);
    const sections = [...sectionsOf('Alarms').keys()].map(toSlug);
    const alarms = alarmsOf(stack);
    expect(alarms.length).toBeGreaterThan(1);
    for (const alarm of alarms) {
      expect(sections).toContain(sectionOf(alarm));
      const severity = severityOf(alarm, topics);
      const action = [...topics].filter(([, name]) => name === severity).map(([topic]) => ({ Ref: topic }));
      expect([idOf(alarm), alarm.Properties.OKActions ?? []]).toEqual([idOf(alarm), action]);
      expect(alarm.Properties.ActionsEnabled).toBe(true);
      // A window of a burn rate only notifies as a part of a composite alarm.
      if (severity === undefined) expect(idOf(alarm)).toMatch(/-burn-\d+[mh]$/);
    }
  });

  test("OPS-3 CloudWatch and the budget may publish to the operator's topic, over TLS only", () => {
    const topics = topicsOf(stack);
    const policies = ofType(stack, 'AWS::SNS::TopicPolicy').map(({ Properties }) => Properties);
    expect(policies.map(({ Topics }) => nameOfTopic(Topics, topics))).toEqual(['page', 'ticket']);
    for (const { Topics, PolicyDocument } of policies) {
      // The budget is a ticket.
      const budgets = nameOfTopic(Topics, topics) === 'ticket' ? ofType(stack, 'AWS::Budgets::Budget') : [];
      expect(PolicyDocument).toMatchObject({
        Statement: [
          { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
          {
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          },
          ...budgets.map(() => ({
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'budgets.amazonaws.com' },
          })),
        ],
      });
    }
    const subscribed = ofType(stack, 'AWS::SNS::Subscription').map(({ Properties }) => [
      nameOfTopic([Properties.TopicArn], topics),
      Properties.Protocol,
      Properties.Endpoint,
    ]);
    expect(subscribed.toSorted()).toEqual([
      ['page', 'https', PAGER],
      ['ticket', 'email', OPERATOR],
    ]);
  });

  test('OPS-3 no alarm has more metrics than CloudWatch allows', () => {
    for (const alarm of ofType(stack, 'AWS::CloudWatch::Alarm')) {
      expect({ id: idOf(alarm), fits: metricsOfAlarm(alarm) <= 10 }).toEqual({ id: idOf(alarm), fits: true });
      expect(metricsOfAlarm(alarm)).toBeGreaterThan(0);
    }
  });
});

test('OPS-3 every metric is in a dashboard', () => {
  const shown = new Set(inDashboards(edge.operations).map(({ name }) => name));
  expect([...metrics.keys()].filter((name) => !shown.has(name))).toEqual([
    // Only logged: `audit_differences` counts it.
    'audit_difference',
  ]);
});

test('the fixed costs count the alarm metrics that exist behind CloudFront', () => {
  const alarms = [abroad.operations, abroad.edgeOperations ?? abroad.operations].flatMap((stack) =>
    ofType(stack, 'AWS::CloudWatch::Alarm'),
  );
  const counted = standing.find(([, name]) => name === 'alarmMonth')?.[2];
  expect(counted).toBe(alarms.reduce((sum, alarm) => sum + metricsOfAlarm(alarm), 0));
});

test('OPS-4 every section of the runbook belongs to an alarm', () => {
  const ids = new Set(stacks.flatMap(([, stack]) => alarmsOf(stack).map(sectionOf)));
  expect([...sectionsOf('Alarms').keys()].toSorted()).toEqual([...ids].toSorted());
});

test('OPS-13 the alarm of the canary starts after two runs that failed or did not happen', () => {
  const alarmOf = (stack: Synthesized) => alarmsOf(stack).find((alarm) => idOf(alarm) === 'canary-failing');
  expect(alarmOf(edge.operations)?.Properties).toMatchObject({
    Metrics: [{ MetricStat: { Metric: { MetricName: 'canary_ok' }, Stat: 'Minimum', Period: 300 } }],
    Threshold: 1,
    ComparisonOperator: 'LessThanThreshold',
    EvaluationPeriods: 2,
    DatapointsToAlarm: 2,
    TreatMissingData: 'breaching',
  });
  expect(alarmOf(rest.operations)).toBeDefined();
  expect(alarmOf(plain.operations)).toBeUndefined();
});

test.each([
  ['money-is-wrong', ['audit-difference', 'settle-failures', 'orphaned-holds'], 'OR'],
  ['availability-burn-fast', ['availability-burn-1h', 'availability-burn-5m'], 'AND'],
  ['availability-burn-slow', ['availability-burn-6h', 'availability-burn-30m'], 'AND'],
  ['added-time-burn-fast', ['added-time-burn-1h', 'added-time-burn-5m'], 'AND'],
  ['added-time-burn-slow', ['added-time-burn-6h', 'added-time-burn-30m'], 'AND'],
])('OPS-3 %s combines %j by %s', (id, parts, operator) => {
  const composite = ofType(plain.operations, 'AWS::CloudWatch::CompositeAlarm').find((one) => idOf(one) === id);
  const rule = JSON.stringify(composite?.Properties.AlarmRule);
  const below = [...rule.matchAll(/"Fn::GetAtt":\["(\w+)","Arn"\]/g)].map(([, part = '']) => {
    const alarm = plain.operations.resources.get(part);
    return alarm && idOf(alarm);
  });
  expect(below).toEqual(parts);
  expect(rule.match(/ (?:AND|OR) /g)).toEqual(parts.slice(1).map(() => ` ${operator} `));
});

test('OPS-3 alarms on CloudFront are in its region, and one watches the certificate of a domain', () => {
  const onEdge = ['edge-errors', 'firewall-blocks'];
  expect(idsOf(edge.operations)).toEqual(expect.arrayContaining([...onEdge, 'certificate-expiry', 'direct-access']));
  expect(idsOf(abroad.operations)).not.toEqual(expect.arrayContaining(['edge-errors']));
  expect(abroad.edgeOperations && idsOf(abroad.edgeOperations)).toEqual(onEdge);
  expect(edge.edgeOperations).toBeUndefined();
  expect(idsOf(rest.operations)).toEqual(expect.arrayContaining(onEdge));
  for (const id of [...onEdge, 'direct-access']) expect(idsOf(plain.operations)).not.toContain(id);
});

test('OPS-3 an alarm watches a certificate that API Gateway issued', () => {
  const alarm = alarmsOf(restNamed.operations).find((one) => idOf(one) === 'certificate-expiry');
  const [dimension, ...others] = z
    .array(z.object({ Name: z.literal('CertificateArn'), Value: z.unknown() }))
    .parse(alarm?.Properties.Dimensions);
  expect(others).toEqual([]);
  expect(pointsAt(dimension?.Value, restNamed.operations, [restNamed.api])).toBe('rest/certificate');
  expect(idsOf(rest.operations)).not.toContain('certificate-expiry');
});

test('OPS-3 an alarm and a graph show failures of Web Functions outside the program', () => {
  const alarm = alarmsOf(plain.operations).find((one) => idOf(one) === 'web-function-errors');
  const endpoints = ofType(plain.api, 'AWS::Lambda::WebFunctionEndpoint').map(({ Properties }) => Properties);
  expect(endpoints).toHaveLength(2);
  expect(statsOf(alarm).filter(({ Namespace }) => Namespace === 'AWS/Lambda/Web')).toEqual(
    endpoints.map(({ FunctionName, Name, EndpointName = Name }) => ({
      Namespace: 'AWS/Lambda/Web',
      MetricName: 'HTTPResponseStatusClass5XX',
      Dimensions: [
        { Name: 'EndpointName', Value: EndpointName },
        { Name: 'FunctionName', Value: FunctionName },
      ],
    })),
  );
  // Errors with a log record have their own alarm.
  const counted = inAlarms(plain.operations).filter(({ where }) => where === `${PREFIX}-web-function-errors`);
  expect(counted.map(({ dimensions }) => dimensions.code).toSorted()).toEqual(
    errorCodes.filter((code) => new GatewayError(code, '').status >= 500).toSorted(),
  );
  const shown = JSON.stringify(ofType(plain.operations, 'AWS::CloudWatch::Dashboard'));
  for (const name of ['HTTPResponseStatusClass5XX', 'AWS/Lambda/Web/Usage']) expect(shown).toContain(name);
  expect(idsOf(rest.operations)).not.toContain('web-function-errors');
});

const [atLeast, below] = ['GreaterThanOrEqualToThreshold', 'LessThanThreshold'];

test.each([
  // The alarms that `money-is-wrong` combines.
  ['audit-difference', 1, 1, atLeast, 'notBreaching'],
  ['settle-failures', 3, 1, atLeast, 'notBreaching'],
  ['uncollected', 1_000_000, 1, atLeast, 'notBreaching'],
  ['orphaned-holds', 1, 1, atLeast, 'notBreaching'],
  ['audit-not-run', 1, 3, below, 'breaching'],
  ['audit-not-complete', 1, 1, below, 'breaching'],
  ['outbox-not-run', 1, 2, below, 'breaching'],
  ['sweep-not-run', 1, 2, below, 'breaching'],
  ['video-sweep-not-run', 1, 2, below, 'breaching'],
  // A model whose cost equals its charges has a margin of 0.
  ['sold-below-cost-1', 0, 1, below, 'notBreaching'],
])('OPS-3 %s starts at %d, %d times in a row', (id, threshold, periods, comparison, missing) => {
  expect(alarmsOf(plain.operations).find((one) => idOf(one) === id)?.Properties).toMatchObject({
    Threshold: threshold,
    EvaluationPeriods: periods,
    DatapointsToAlarm: periods,
    ComparisonOperator: comparison,
    TreatMissingData: missing,
  });
});

test('OPS-3 missing data starts only the alarms on scheduled work', () => {
  const silent = ofType(plain.operations, 'AWS::CloudWatch::Alarm').filter(
    ({ Properties }) => Properties.TreatMissingData !== 'notBreaching',
  );
  expect(silent.map(idOf).toSorted()).toEqual([
    'audit-not-complete',
    'audit-not-run',
    'outbox-not-run',
    'sweep-not-run',
    'video-sweep-not-run',
  ]);
});

test('OPS-3 alarms watch the errors of every function', () => {
  const looked = ofType(plain.operations, 'AWS::CloudWatch::Alarm')
    .filter((alarm) => ['function-errors', 'background-errors'].includes(idOf(alarm)))
    .flatMap(statsOf)
    .filter(({ Namespace }) => Namespace === 'AWS/Lambda')
    .flatMap(({ MetricName, Dimensions }) =>
      Dimensions.map(({ Value }) => [MetricName, pointsAt(Value, plain.operations, [plain.api, plain.video])]),
    );
  const functions = [...ofType(plain.api, 'AWS::Lambda::Function'), ...ofType(plain.video, 'AWS::Lambda::Function')];
  // Except CDK's function that copies code during a deployment.
  const ours = functions.filter(({ Properties }) => z.string().safeParse(Properties.FunctionName).success);
  expect(looked.toSorted()).toEqual(ours.map((one) => ['Errors', nameOf(one)]).toSorted());
});

test('OPS-3 only these alarms page, and the runbook gives a reason for each', () => {
  const paging = new Set(
    stacks.flatMap(([, stack]) =>
      alarmsOf(stack).flatMap((alarm) => (severityOf(alarm, topicsOf(stack)) === 'page' ? [sectionOf(alarm)] : [])),
    ),
  );
  expect([...paging].toSorted()).toEqual([
    'added-time-burn',
    'availability-burn',
    'canary-failing',
    'direct-access',
    'edge-errors',
    'functions-throttled',
    'money-is-wrong',
    'vendor-refused-us',
    'web-function-errors',
  ]);
  const reasoned = [...sectionsOf('Alarms')].filter(([, text]) => /^Page: \S.{30,}/m.test(text)).map(([id]) => id);
  expect(reasoned.toSorted()).toEqual([...paging].toSorted());
});

test('OPS-3 a chat channel gets both severities of every region from one configuration', () => {
  const channels = ofType(abroad.operations, 'AWS::Chatbot::SlackChannelConfiguration').map(
    ({ Properties }) => Properties,
  );
  expect(channels).toMatchObject([
    {
      SlackWorkspaceId: CHANNEL.workspaceId,
      SlackChannelId: CHANNEL.channelId,
      ConfigurationName: `${PREFIX}-alarms-1`,
    },
  ]);
  const topics = JSON.stringify(channels[0]?.SnsTopicArns);
  for (const region of ['eu-central-1', 'us-east-1'])
    for (const severity of ['page', 'ticket']) {
      expect(topics).toContain(`:sns:${region}:`);
      expect(topics).toContain(`:${PREFIX}-${severity}`);
    }
  expect(z.array(z.unknown()).parse(channels[0]?.SnsTopicArns)).toHaveLength(4);
  const [teams, ...others] = ofType(abroad.operations, 'AWS::Chatbot::MicrosoftTeamsChannelConfiguration');
  expect(others).toEqual([]);
  expect(z.array(z.unknown()).parse(teams?.Properties.SnsTopicArns)).toHaveLength(2);
  expect(JSON.stringify(teams?.Properties.SnsTopicArns)).not.toContain('-page');
});

test('OPS-3 chat channels cannot run commands of AWS', () => {
  for (const type of ['SlackChannelConfiguration', 'MicrosoftTeamsChannelConfiguration']) {
    const [channel] = ofType(edge.operations, `AWS::Chatbot::${type}`);
    expect(JSON.stringify(channel?.Properties.GuardrailPolicies)).toContain(':iam::aws:policy/AWSDenyAll');
  }
  const roles = ofType(edge.operations, 'AWS::IAM::Role').filter(({ Properties }) =>
    JSON.stringify(Properties.AssumeRolePolicyDocument).includes('chatbot.amazonaws.com'),
  );
  expect(roles.map(({ Properties }) => [Properties.ManagedPolicyArns, Properties.Policies])).toEqual([
    [undefined, undefined],
  ]);
  expect(abroad.gateway.operations.dependencies).toContain(abroad.gateway.edgeOperations);
});

test('OPS-3 alarms of a new environment have no actions until the first check has passed', () => {
  const { operations } = readGateway(newApp(), 'prod', { ...environmentOf('prod', 'none'), alarmActions: false });
  for (const alarm of alarmsOf(operations)) expect(alarm.Properties.ActionsEnabled).toBe(false);
});

test('OPS-3 the budget notifies the topic once when it is spent and once when AWS forecasts it', () => {
  const [budget] = ofType(edge.operations, 'AWS::Budgets::Budget');
  expect(budget?.Properties).toMatchObject({
    Budget: { BudgetType: 'COST', TimeUnit: 'MONTHLY', BudgetLimit: { Amount: 50, Unit: 'USD' } },
    NotificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((NotificationType) => ({
      Notification: { NotificationType, Threshold: 100, ComparisonOperator: 'GREATER_THAN' },
      Subscribers: [{ SubscriptionType: 'SNS' }],
    })),
  });
  expect(ofType(plain.operations, 'AWS::Budgets::Budget')).toEqual([]);
});

test('OPS-3 there are five dashboards', () => {
  const names = ofType(edge.operations, 'AWS::CloudWatch::Dashboard').map(({ Properties }) => Properties.DashboardName);
  expect(names).toEqual(['traffic', 'money', 'upstreams', 'videos', 'limits'].map((name) => `${PREFIX}-${name}`));
});
