import * as z from 'zod';
import { settingsSchema } from '../lambdas/settings.ts';
import { eventFunctionNames } from './functions.ts';

export const environmentNames = ['dev', 'staging', 'prod'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

const functionName = z.enum(eventFunctionNames);

/** The periods CloudWatch knows, up to two years. */
const logRetention = z.literal([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731]);

/** How long things take with videos, under the names and with the values the functions know them by. */
const videoTimes = z.strictObject(
  settingsSchema.pick({
    VIDEO_CREATE_SECONDS: true,
    VIDEO_POLL_SECONDS: true,
    VIDEO_POLL_SECONDS_MAX: true,
    VIDEO_LIMIT_SECONDS: true,
    VIDEO_HOLD_SECONDS: true,
    VIDEO_RETRY_SECONDS: true,
    VIDEO_WEBHOOK_RETRY_SECONDS: true,
  }).shape,
);

export const environmentSchema = z.strictObject({
  logRetentionDays: logRetention,
  /** Off, the tables and secrets go with their stack. On, they outlive it and a table refuses to be deleted. */
  keepsData: z.boolean(),
  /** CloudFormation refuses to delete the stacks until it is switched off by hand. */
  terminationProtection: z.boolean(),
  /** Factor on every list price, a decimal (BILL-3). */
  markup: z.string().regex(/^\d+(\.\d+)?$/),
  /** The address that clients use, without a path: the bot tells it, and leads to the mini app there. */
  publicUrl: z.url({ protocol: /^https$/ }).optional(),
  bot: z
    .strictObject({
      /** What an account begins with, in USD. */
      startCreditUsd: settingsSchema.shape.START_CREDIT_USD,
      /** What `/topup` says, or the link that it shows. */
      topUpText: settingsSchema.shape.TOP_UP_TEXT,
    })
    .prefault({}),
  /** In place of what `functions.ts` says. */
  memoryMb: z.partialRecord(functionName, z.int().min(128).max(10_240)).default({}),
  /**
   * In place of what `functions.ts` says. It is a ceiling as well as a promise, and is taken from what the account's other
   * functions share: AWS insists that 100 of that stay unreserved.
   */
  reservedConcurrency: z.partialRecord(functionName, z.int().positive()).default({}),
  /** Synthesis refuses times that do not fit together. */
  videos: videoTimes.prefault({}),
});

export type Environment = z.output<typeof environmentSchema>;

const parse = (environment: z.input<typeof environmentSchema>): Environment => environmentSchema.parse(environment);

export const environments: Readonly<Record<EnvironmentName, Environment>> = {
  dev: parse({ logRetentionDays: 7, keepsData: false, terminationProtection: false, markup: '1' }),
  staging: parse({ logRetentionDays: 30, keepsData: true, terminationProtection: true, markup: '1' }),
  prod: parse({ logRetentionDays: 365, keepsData: true, terminationProtection: true, markup: '1' }),
};
