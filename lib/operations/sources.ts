import type { Environment } from '../environments.ts';
import type { ApiStack } from '../stacks/api-stack.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import type { EdgeStack } from '../stacks/edge-stack.ts';
import type { VideoStack } from '../stacks/video-stack.ts';

/** What is looked at. */
export interface Sources {
  readonly environment: Environment;
  /** What tells the environments of one account apart in metrics. */
  readonly prefix: string;
  readonly data: DataStack;
  readonly video: VideoStack;
  readonly api: ApiStack;
  /** Where CloudFront is the front door. */
  readonly edge: EdgeStack | undefined;
}
