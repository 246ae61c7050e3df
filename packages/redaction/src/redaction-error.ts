import { defineErrors, type ErrorCodeOf, type ErrorGuard } from '@hansard/events/coded-error';

/** The errors of redaction. */
export const redactionErrors = defineErrors({
  REDACTION_PATTERN_INVALID: {
    when: 'A pattern of your own has a wrong name, is not a regular expression of RE2, is too large, or matches an empty text.',
    advice:
      'Correct the pattern that the message names. RE2 has no backreferences and no lookaround; a name has small letters, digits and `-`.',
    details: ['name'],
  },
});

export type RedactionErrorCode = ErrorCodeOf<typeof redactionErrors>;

export class RedactionError extends redactionErrors.Base {}

export const isRedactionError: ErrorGuard<RedactionError> = redactionErrors.guard;
