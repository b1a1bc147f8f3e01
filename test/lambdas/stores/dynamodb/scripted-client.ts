import { type AttributeValue, DynamoDBClient, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';

const requestSchema = z.object({ body: z.union([z.instanceof(Uint8Array), z.string()]) });

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
    maxAttempts: 1,
    requestHandler: {
      handle: async (request: unknown) => {
        const output = await script.respond(request);
        return { response: { statusCode: 200, headers: {}, body: Buffer.from(JSON.stringify(output)) } };
      },
    },
  });
  const script = {
    client,
    bodies: [] as Body[],
    answer: async (): Promise<object> => ({}),
    respond: (request: unknown): Promise<object> => {
      script.bodies.push(JSON.parse(Buffer.from(requestSchema.parse(request).body).toString()));
      return script.answer();
    },
    reset: () => {
      script.bodies.length = 0;
      script.answer = async () => ({});
    },
    rejectWith: (error: unknown) => {
      script.answer = () => Promise.reject(error);
    },
  };
  // This step runs before retries and signatures, so that an error is passed on unchanged. Hot calls have no steps.
  client.middlewareStack.add(
    () =>
      async ({ request }) => ({ output: { $metadata: {}, ...(await script.respond(request)) }, response: {} }),
    { step: 'build' },
  );
  return script;
};
