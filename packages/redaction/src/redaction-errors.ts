import { defineErrors } from '@hansard/events/hansard-error';

/** The errors of redaction. */
export const redactionErrors = defineErrors('redaction', {
  REDACTION_PATTERN_INVALID: {
    when: 'A pattern of your own has a wrong name, is not a regular expression of RE2, is too large, or matches an empty text.',
    advice:
      'Correct the pattern that the message names. RE2 has no backreferences and no lookaround; a name has small letters, digits and `-`.',
    details: ['name'],
  },
});
