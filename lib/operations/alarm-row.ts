import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** One alarm as data. Its id is its name in AWS behind the environment's prefix, and its section in docs/runbook.md. */
export interface AlarmRow {
  readonly id: string;
  readonly metric: IMetric;
  /** `least`: that much or more is wrong. `below`: less than that is. */
  readonly threshold: { readonly least: number } | { readonly below: number };
  /** Why this much, in a sentence: it stands in the alarm's description. */
  readonly reason: string;
  /** In a row, or `wrong` of the last `periods`. */
  readonly periods?: number;
  readonly wrong?: number;
  /** Where silence itself is what is wrong. Elsewhere a metric that is not there says that nothing happened. */
  readonly silence?: 'wrong';
}
