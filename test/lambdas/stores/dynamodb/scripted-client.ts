import { type AttributeValue, DynamoDBClient, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';

const requestSchema = z.object({ body: z.instanceof(Uint8Array) });

/** Body of a request, in the format of the wire. */
interface Body {
  readonly ConsistentRead?: boolean;
  readonly Item?: Readonly<Record<string, AttributeValue>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, AttributeValue>>;
  readonly TransactItems?: readonly TransactWriteItem[];
}

/** Creates a client that sends nothing. A call ends with `answer` when its request is complete. */
export const createScriptedClient = () => {
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const script = {
    client,
    bodies: [] as Body[],
    answer: async (): Promise<object> => ({}),
    reset: () => {
      script.bodies.length = 0;
      script.answer = async () => ({});
    },
    rejectWith: (error: unknown) => {
      script.answer = () => Promise.reject(error);
    },
  };
  // This step runs before retries and signatures, so that an error is passed on unchanged.
  client.middlewareStack.add(
    () =>
      async ({ request }) => {
        script.bodies.push(JSON.parse(Buffer.from(requestSchema.parse(request).body).toString()));
        return { output: { $metadata: {}, ...(await script.answer()) }, response: {} };
      },
    { step: 'build' },
  );
  return script;
};
