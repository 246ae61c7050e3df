import { definedOnly } from '@hansard/events';
import type { Redactor } from '@hansard/redaction';
import { z } from 'zod';
import type { HarnessContext } from './context.ts';

/** The key `redact` of the configuration. */
export const redactionSchema = z
  .union(
    [
      z.literal(false),
      z.strictObject({
        formats: z
          .boolean()
          .optional()
          .describe('Whether the known formats of secrets are replaced. Absent: true.'),
        environment: z
          .array(z.string().min(1))
          .optional()
          .describe('Names of environment variables whose values are secrets.'),
        patterns: z
          .record(z.string(), z.string())
          .optional()
          .describe(
            'Patterns of your own: regular expressions of RE2, by the kind of secret that each finds.',
          ),
      }),
    ],
    {
      error:
        'Invalid input: expected false, or { "formats": …, "environment": [ … ], "patterns": { … } } without other keys',
    },
  )
  .default({})
  .describe(
    'What is replaced by [REDACTED:kind] before it is recorded, and again in exports; false: nothing. Absent: the known formats of secrets.',
  );

/** Gives the redactor of the configuration, made when it is first asked for: a command that only reads needs none. */
export type RedactorLoader = () => Promise<Redactor>;

/** Null: the configuration says `"redact": false`. The loader throws REDACTION_PATTERN_INVALID. */
export function configuredRedactor(
  redact: z.infer<typeof redactionSchema>,
  { env }: Pick<HarnessContext, 'env'>,
): RedactorLoader | null {
  if (redact === false) return null;
  let redactor: Promise<Redactor> | undefined;
  return () => {
    redactor ??= import('@hansard/redaction').then(({ createRedactor }) =>
      createRedactor({ ...definedOnly(redact), env }),
    );
    return redactor;
  };
}
