import * as z from 'zod';

const unique = (list: readonly unknown[]): boolean =>
  new Set(list.map((target) => JSON.stringify(target))).size === list.length;

/** Channel of Amazon Q Developer in chat applications (AWS Chatbot). An administrator has authorized its workspace. */
const chatChannel = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('slack'),
    workspaceId: z.string().regex(/^[A-Z0-9]{1,255}$/, 'must be the id of a Slack workspace such as T0123ABCD'),
    channelId: z.string().regex(/^[A-Za-z0-9]{1,255}$/, 'must be the id of a Slack channel such as C0123ABCD'),
  }),
  z.strictObject({
    kind: z.literal('teams'),
    tenantId: z.uuid(),
    teamId: z.uuid(),
    /** As it is in the link of the channel, with `%3A` and `%40`. */
    channelId: z.string().min(1),
  }),
]);

export type ChatChannel = z.output<typeof chatChannel>;

const targets = z.strictObject({
  /** Email addresses. Each recipient must confirm once. */
  mail: z.array(z.email()).refine(unique, 'must not repeat an address').default([]),
  /** URLs that accept messages of SNS, such as those of PagerDuty and Opsgenie, which confirm by themselves. */
  https: z
    .array(z.url({ protocol: /^https$/, error: 'must be an https URL' }))
    .refine(unique, 'must not repeat a URL')
    .default([]),
  chat: z.array(chatChannel).refine(unique, 'must not repeat a channel').default([]),
});

export type AlarmTargets = z.output<typeof targets>;

/** Recipients of alarms by severity. Default: none. */
export const alarmTargets = z.strictObject({ page: targets.prefault({}), ticket: targets.prefault({}) });

export const hasTarget = ({ mail, https, chat }: AlarmTargets): boolean => mail.length + https.length + chat.length > 0;
