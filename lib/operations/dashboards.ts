import { Duration } from 'aws-cdk-lib';
import { Dashboard, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { functionsOf, hasCanary } from '../environment-schema.ts';
import { inferenceFunctionNames } from '../inference-functions.ts';
import { distributionMetric, firewallMetric } from './edge-alarms.ts';
import { byDimension, graph, heading, table } from './graphs.ts';
import { MARGIN_MINUTES } from './margin-alarms.ts';
import { objectiveWidgets } from './objectives.ts';
import type { OwnMetric } from './own-metric.ts';
import type { Sources } from './sources.ts';
import { StockRows } from './stock-rows.ts';
import { webFunctionRow } from './web-functions.ts';

/** Rows of widgets, from top to bottom. */
type Rows = readonly (readonly IWidget[])[];

interface Board {
  readonly own: OwnMetric;
  readonly sources: Sources;
  readonly stock: StockRows;
}

export const addDashboards = (scope: Construct, own: OwnMetric, sources: Sources): void => {
  const board: Board = { own, sources, stock: new StockRows(scope, 'stock') };
  const boards: Readonly<Record<string, Rows>> = {
    traffic: traffic(board),
    money: money(board),
    upstreams: upstreams(board),
    videos: videos(board),
    limits: limits(board),
  };
  for (const [name, rows] of Object.entries(boards)) {
    const dashboard = new Dashboard(scope, `${name}-dashboard`, {
      dashboardName: `${sources.prefix}-${name}`,
      defaultInterval: Duration.hours(12),
    });
    for (const row of rows) dashboard.addWidgets(...row);
  }
};

const inferenceLogs = ({ environment, prefix }: Sources): readonly string[] => {
  const { events, webs } = functionsOf(environment);
  const names = [...events, ...webs].map(({ name }) => name);
  const inference: ReadonlySet<string> = new Set([...inferenceFunctionNames, 'inference']);
  const logged = names.filter((name) => inference.has(name));
  return logged.map((name) => `/aws/lambda/${prefix}-${name}`);
};

const traffic = ({ own, sources, stock }: Board): Rows => {
  const { prefix, environment, api, edge } = sources;
  const called = functionsOf(environment).events.filter(({ description }) => description.trigger === 'url');
  return [
    ...objectiveWidgets(own, sources),
    [
      graph('Requests by code', [byDimension(prefix, 'requests', 'Sum')]),
      graph('Share of requests failed by the gateway', [own('failed_by_us', { statistic: 'Average' })]),
      graph('Requests without a client IP', [own('client_ip_missing')]),
    ],
    [
      graph('Response time, median', [byDimension(prefix, 'total_ms', 'p50')]),
      graph('Response time, 99th percentile', [byDimension(prefix, 'total_ms', 'p99')]),
    ],
    [
      graph('Input tokens', [byDimension(prefix, 'input_tokens', 'Sum')]),
      graph('Output tokens', [byDimension(prefix, 'output_tokens', 'Sum')]),
    ],
    ...(hasCanary(environment)
      ? [
          [
            graph('Canary: 1 if every step of a run is well', [own('canary_ok', { statistic: 'Minimum' })]),
            graph(
              'Canary: time and failed steps',
              [own('canary_ms', { statistic: 'Maximum' })],
              [own('canary_failed')],
            ),
          ],
        ]
      : []),
    [
      table('Underlying errors', inferenceLogs(sources), [
        'filter message = "request" and level = "ERROR"',
        'stats count(*) as requests by `error.type`, cause.name, cause.place, `http.route`',
        'sort requests desc',
      ]),
    ],
    ...(edge ? [stock.distribution(edge.distributionId)] : []),
    ...(api.restApi ? [stock.restApi(api.restApi.name, api.restApi.stage)] : []),
    ...(api.webFunctions.size > 0 ? [webFunctionRow(sources)] : []),
    ...called.flatMap(({ name }) => {
      const lambda = api.lambdas.get(name);
      return lambda ? [stock.lambda(name, lambda)] : [];
    }),
  ];
};

const money = ({ own, sources, stock }: Board): Rows => [
  [
    graph('Margin by model and day, in millionths of a USD', [
      byDimension(sources.prefix, 'margin_micro_usd', 'Sum', MARGIN_MINUTES),
    ]),
  ],
  [
    graph('Held, charged and released, in millionths of a USD', [
      own('held_micro_usd'),
      own('charged_micro_usd'),
      own('released_micro_usd'),
    ]),
    graph('Charged beyond the hold, and uncollected', [own('overage_micro_usd'), own('uncollected_micro_usd')]),
    graph('Requests of accounts on probation', [own('account_on_probation')]),
  ],
  [
    graph('Audit', [own('audit_differences'), own('orphaned_holds')], [own('audit_accounts'), own('audit_unstable')]),
    graph('Complete audit passes, and skipped accounts', [own('audit_passes'), own('audit_too_long')]),
    graph('Maintenance', [own('worker_paused'), own('clock_skewed'), own('maintenance_unreadable')]),
  ],
  [
    graph('Failed charges', [own('late_settlement'), own('commit_failed'), own('notes_late')]),
    graph('Charges completed later', [own('settled_by_note'), own('apply_failed'), own('notes_settled')]),
  ],
  [
    graph('Sweeper', [own('swept_released'), own('swept_finished'), own('sweep_failed')], [own('holds_swept')]),
    graph('Outbox', [own('notes_failed')], [own('note_age_s', { statistic: 'Maximum' })]),
  ],
  [
    graph('Usage that could not be charged as reported', [
      own('usage_missing'),
      own('usage_implausible'),
      own('usage_total_differs'),
      own('overage'),
    ]),
  ],
  stock.table('accounts', sources.data.tables.accounts),
  stock.table('idempotency', sources.data.tables.idempotency),
];

const upstreams = ({ own, sources }: Board): Rows => {
  const ofCode = (code: string) => own('requests', { of: { code }, label: code });
  return [
    [
      graph('Failed by providers', ['upstream_error', 'upstream_timeout', 'upstream_capacity'].map(ofCode)),
      graph('Unavailable', ['model_unavailable', 'service_unavailable'].map(ofCode)),
    ],
    [
      graph('Time to first byte, median', [byDimension(sources.prefix, 'first_byte_ms', 'p50')]),
      graph('Time to first byte, 95th percentile', [byDimension(sources.prefix, 'first_byte_ms', 'p95')]),
    ],
    [
      graph('Circuits', [own('circuit_opened'), own('circuit_closed'), own('model_quarantined')]),
      graph('Access to providers', [
        own('vendor_refused_us'),
        own('credential_refused'),
        own('credential_limited'),
        own('credential_missing'),
        own('vendor_model_missing'),
        own('provider_keys_unreadable'),
      ]),
    ],
    [
      table('Failures by model', inferenceLogs(sources), [
        'filter message = "request" and `error.type` like /^upstream|unavailable$/',
        'stats count(*) as requests by `gen_ai.request.model`, `error.type`',
        'sort requests desc',
      ]),
    ],
    [
      table('Circuits by model', inferenceLogs(sources), [
        'filter message in ["circuit_opened", "circuit_closed", "model_quarantined"]',
        'stats count(*) as times by circuit, message',
        'sort times desc',
      ]),
    ],
  ];
};

const videos = ({ own, sources, stock }: Board): Rows => [
  [
    graph('Started and ended', [own('videos_begun'), own('video_completed'), own('video_failed')]),
    graph('Ended by the sweep or a timeout', [own('video_timed_out'), own('video_resumed'), own('videos_swept')]),
  ],
  [
    graph('Seconds from creation to completion', [
      own('video_s', { statistic: 'p50', label: 'median' }),
      own('video_s', { statistic: 'p95', label: '95th percentile' }),
    ]),
    graph('Bytes stored', [own('video_stored_bytes')]),
  ],
  [
    graph('Money', [own('video_late_settlement'), own('video_overage')]),
    graph('Usage, webhooks and the video sweep', [
      own('video_usage_missing'),
      own('video_usage_implausible'),
      own('video_webhook_failed'),
      own('video_sweep_failed'),
    ]),
  ],
  stock.machine(sources.video.machine),
  stock.lambda('videoSteps', sources.video.steps),
  stock.table('videos', sources.data.tables.videos),
];

const limits = ({ own, sources, stock }: Board): Rows => {
  const { prefix, environment, data, edge } = sources;
  const region = environment.frontDoor === 'api-gateway' ? environment.region : undefined;
  return [
    [
      graph('Rejected by limit', [byDimension(prefix, 'limited', 'Sum')]),
      graph('429 from the gateway and from providers', [
        own('requests', { of: { code: 'rate_limit_exceeded' }, label: 'gateway' }),
        own('requests', { of: { code: 'upstream_capacity' }, label: 'providers' }),
      ]),
    ],
    ...(environment.frontDoor === 'none'
      ? []
      : [
          [
            graph('Firewall', [
              firewallMetric(prefix, 'BlockedRequests', region),
              firewallMetric(prefix, 'CountedRequests', region),
            ]),
            graph('Front door', [
              own('requests', { of: { code: 'direct_access_refused' }, label: 'without the origin secret' }),
              own('origin_secret_unreadable'),
              ...(edge ? [distributionMetric(edge.distributionId, '4xxErrorRate')] : []),
            ]),
          ],
        ]),
    [
      heading('Messages to account owners'),
      graph('Failed notifications', [own('notice_failed'), own('notice_refused'), own('account_change_unreadable')]),
      graph('Failed bot messages', [own('bot_message_failed'), own('bot_message_refused')]),
    ],
    [
      heading('Usage events and traces'),
      graph('Failed usage events', [own('usage_events_failed'), own('usage_event_unreadable')]),
      graph('Failed exports of traces', [own('traces_lost')]),
    ],
    stock.table('keys', data.tables.keys),
    stock.table('counters', data.tables.counters),
  ];
};
