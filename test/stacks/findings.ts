import type { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/**
 * Returns cdk-nag's findings as `rule path`, with placeholders for region and prefix as in the acknowledgements. Only a
 * synthesis links the stacks.
 */
export const findingsOf = (app: App, region: string): readonly string[] => {
  app.synth();
  return new AwsSolutionsChecks(app).validateScope(app).violations.flatMap(({ ruleName, violatingResources }) => {
    const rule = ruleName
      .replace('AwsSolutions-', '')
      .replaceAll(region, '<region>')
      .replaceAll('cdk-hnb659fds-', 'cdk-<qualifier>-')
      .replaceAll('gateway-prod-', '<prefix>-');
    return violatingResources.map(({ constructPath }) => `${rule} ${constructPath}`);
  });
};
