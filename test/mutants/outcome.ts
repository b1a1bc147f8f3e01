import * as z from 'zod';

/** What vitest's JSON reporter writes, as far as it is read here. */
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ title: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

export type Outcome =
  | { readonly kind: 'green' }
  /** The title of the first test that failed, and what it said. */
  | { readonly kind: 'caught'; readonly title: string; readonly message: string }
  /** Nothing was proved: a file did not load, the code broke down, or nothing ran. */
  | { readonly kind: 'broken'; readonly message: string };

/** Code that cannot run, or a write the database does not understand: no test is needed to notice that. */
const breakdown = /^(?:Error: )?(?:SyntaxError|ReferenceError|ValidationException)\b/;

export const outcomeOf = (report: string, exitCode: number | null): Outcome => {
  const { testResults } = reportSchema.parse(JSON.parse(report));
  const unloaded = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (testResults.length === 0 || unloaded)
    return { kind: 'broken', message: `no test ran: ${unloaded?.message ?? 'no file was found'}` };
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed');
  const [first] = failed;
  if (!first) return exitCode === 0 ? { kind: 'green' } : { kind: 'broken', message: `exit code ${exitCode}` };
  const messages = failed.flatMap(({ failureMessages }) => failureMessages ?? []);
  const brokenDown = messages.find((message) => breakdown.test(message));
  if (brokenDown || exitCode === 0) return { kind: 'broken', message: firstLine(brokenDown ?? 'exit code 0') };
  return { kind: 'caught', title: first.title, message: firstLine(messages[0] ?? '') };
};

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
