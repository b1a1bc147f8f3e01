import { costOf, type PriceName } from './prices.ts';

/** What an environment has whether or not anybody asks it anything, behind CloudFront. */
export const standing: readonly (readonly [what: string, name: PriceName, count: number])[] = [
  ['the firewall', 'firewallMonth', 1],
  ['its rules: the rate of an address and two groups of AWS, which only count', 'firewallRuleMonth', 3],
  ['secrets: pepper, keys of vendors, bot, top-ups, origin', 'secretMonth', 5],
  ['dashboards', 'dashboardMonth', 5],
  ['metrics that alarms look at', 'alarmMonth', 91],
  ['the alarm over alarms on money', 'compositeAlarmMonth', 1],
  ['metrics of our own that occur in a month, about', 'metricMonth', 80],
];

export const costOfStanding = (name: PriceName, count: number): bigint => {
  const picos = costOf(name, count);
  if (picos === undefined) throw new Error(`${name} has no price`);
  return picos;
};
