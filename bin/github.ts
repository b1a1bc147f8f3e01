import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as z from 'zod';
import { GithubStack } from '../lib/stacks/github-stack.ts';
import { environmentNames, environmentOf } from './config.ts';

/** One part of `owner/name`, with or without GitHub's id. A wildcard or a colon would widen the trust policy. */
const PART = '[A-Za-z0-9._-]+';
const repositoryPattern = new RegExp(`^(${PART}/${PART}|${PART}@\\d+/${PART}@\\d+)$`);

const contextSchema = z.object({
  repository: z
    .string({ error: 'is missing. Pass owner/name, or owner@id/name@id' })
    .regex(repositoryPattern, 'must be owner/name, or owner@id/name@id'),
  environments: z
    .string()
    .default(environmentNames.join(','))
    .transform((names) => names.split(','))
    .pipe(z.array(z.enum(environmentNames, { error: `must be a list of ${environmentNames.join(', ')}` }))),
  providerArn: z
    .string()
    .regex(/^arn:aws[a-z-]*:iam::\d{12}:oidc-provider\/token\.actions\.githubusercontent\.com$/, {
      error: 'must be the ARN of the OIDC provider token.actions.githubusercontent.com',
    })
    .optional(),
});

// A CDK app of its own, because one AWS account has one stack of it, whatever environments it has.
const app = new App({ analyticsReporting: false });
const context = contextSchema.safeParse(app.node.getAllContext());
if (!context.success) {
  for (const { path, message } of context.error.issues)
    process.stderr.write(`-c ${path.map(String)[0]}: ${message}.\n`);
  process.exit(1);
}
const { repository, environments, providerArn } = context.data;
const known = new Map(environments.map((name) => [name, environmentOf(name)]));
new GithubStack(app, 'github', { repository, environments: known, providerArn });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
