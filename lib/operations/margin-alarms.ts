import type { AlarmRow } from './alarm-row.ts';
import { leastOf, type OwnMetric } from './own-metric.ts';

/** CloudWatch accepts at most ten metrics in an alarm. */
const MODELS_PER_ALARM = 10;

export const MARGIN_MINUTES = 24 * 60;

/** Returns one alarm for each ten models. All of them have one section in the runbook. */
export const marginAlarms = (own: OwnMetric, models: readonly string[]): readonly AlarmRow[] =>
  Array.from({ length: Math.ceil(models.length / MODELS_PER_ALARM) }, (_, index) => {
    const group = models.slice(index * MODELS_PER_ALARM, (index + 1) * MODELS_PER_ALARM);
    return {
      id: `sold-below-cost-${index + 1}`,
      severity: 'ticket',
      section: 'sold-below-cost',
      metric: leastOf(
        group.map((model) => own('margin_micro_usd', { of: { model }, minutes: MARGIN_MINUTES, label: model })),
        'lowest margin of a model',
        MARGIN_MINUTES,
      ),
      threshold: { below: 0 },
      reason: `Over a day, one of these models cost more than it earned: ${group.join(', ')}.`,
    };
  });
