import type { Environment } from '../environments.ts';
import type { ApiStack } from '../stacks/api-stack.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import type { EdgeStack } from '../stacks/edge-stack.ts';
import type { VideoStack } from '../stacks/video-stack.ts';

/** Resources that alarms and dashboards monitor. */
export interface Sources {
  readonly environment: Environment;
  /** Prefix that distinguishes the environments of one AWS account in metrics. */
  readonly prefix: string;
  readonly data: DataStack;
  readonly video: VideoStack;
  readonly api: ApiStack;
  /** Undefined unless CloudFront is the front door. */
  readonly edge: EdgeStack | undefined;
}
