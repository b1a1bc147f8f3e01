import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** `page`: a person must act now, also at night. `ticket`: the next working day is early enough. */
export const severities = ['page', 'ticket'] as const;
export type Severity = (typeof severities)[number];

/**
 * Alarm as data. With the environment's prefix, its id is the alarm's name in AWS; it is also its section in
 * docs/runbook.md.
 */
export interface AlarmRow {
  readonly id: string;
  /** Section of docs/runbook.md, if several alarms share one. */
  readonly section?: string;
  /** Topic that the alarm notifies. `none` for a condition of a composite alarm, which notifies instead. */
  readonly severity: Severity | 'none';
  readonly metric: IMetric;
  /** Value that starts the alarm: `least` and above, or below `below`. */
  readonly threshold: { readonly least: number } | { readonly below: number };
  /** Reason for the threshold, in one sentence. It is part of the alarm's description. */
  readonly reason: string;
  /**
   * Number of consecutive periods that start the alarm. If `wrong` is set, `wrong` of the last `periods` are enough.
   */
  readonly periods?: number;
  readonly wrong?: number;
  /** Set if missing data means a problem. By default, missing data means that nothing happened. */
  readonly silence?: 'wrong';
}
