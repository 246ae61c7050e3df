/** A construction that our texts avoid, what to write in its place, and an example of each. */
export interface ProsePattern {
  readonly id: string;
  readonly pattern: RegExp;
  readonly better: string;
  readonly refuses: string;
  readonly accepts: string;
}

/** The language table of the house style. Each pattern reads one passage of prose, without code in backticks. */
export const prosePatterns: readonly ProsePattern[] = [
  {
    id: 'tell',
    pattern: /\b(?:tells?|told|telling)\b(?! (?:\w+ ){0,3}apart)/i,
    better: 'reports, says, prints',
    refuses: 'The command tells which file is damaged.',
    accepts: 'Two processes with the same number are told apart by their start time.',
  },
  {
    id: 'is-no',
    pattern: /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|one\b)/i,
    better: 'is not a, must be a',
    refuses: 'The value is no list of ids.',
    accepts: 'There is no dispatch with that id, and the value must be a list.',
  },
  {
    id: 'two-what',
    pattern: /\bwhat\b(?:(?![.;:!?] |[.;:!?]$).)*\bwhat\b/i,
    better: 'name the thing, or write two sentences',
    refuses: 'What comes back is what the agent was given.',
    accepts: 'It returns what the agent received. What it did is in the log.',
  },
  {
    id: 'came-to',
    pattern: /\bwhat (?:[\w'`-]+ ){1,8}(?:comes|came|come) to\b/i,
    better: 'the outcome of',
    refuses: 'The list shows what a dispatch came to.',
    accepts: 'The list shows the outcome of a dispatch.',
  },
  {
    id: 'behind',
    pattern:
      /\bbehind (?:the|a|an|its|their|it|this|that|those|them|each|every|which|position|event|one)\b(?! (?:user's back|contract))/i,
    better: 'after',
    refuses: 'The page starts behind the last event.',
    accepts: 'Stores behind one contract; the page starts after the last event.',
  },
  {
    id: 'who-holds',
    pattern: /\bwho (?:holds?|held)\b|\bwho(?:m)?ever\b/i,
    better: 'the owner, the caller that …',
    refuses: 'Whoever creates a dispatch writes it.',
    accepts: 'The caller that creates a dispatch is its owner.',
  },
  {
    id: 'was-there',
    pattern:
      /\b(?:is|are|was|were|been|be) (?:already |still |not )?there\b(?! (?:is|are|was|were|any|no|a|an)\b)/i,
    better: 'exists, already existed',
    refuses: 'The first record was there already.',
    accepts: 'The first record already existed, and there is a second one.',
  },
  {
    id: 'be-it',
    pattern: /\bbe (?:it|they|he) (?:with|without|in|of|for|a|an|the|by|on|as|from|at|only)\b/i,
    better: 'even with, whether … or',
    refuses: 'An update, be it with no change, takes the lease.',
    accepts: 'An update takes the lease, even with empty updates.',
  },
  {
    id: 'go-on',
    pattern: /\b(?:go|goes|going|gone|went) on\b/i,
    better: 'continues, resumes',
    refuses: 'The command goes on with the session.',
    accepts: 'The command resumes the session.',
  },
  {
    id: 'there-is-not',
    pattern: /\bthere (?:is|are|was|were) not\b(?! (?:a|an|any|enough|yet)\b)/i,
    better: 'an unknown …',
    refuses: 'TypeError for an agent that there is not.',
    accepts: 'TypeError for an unknown agent.',
  },
  {
    id: 'is-left',
    pattern: /\bwhat (?:is|was|are|were) left\b/i,
    better: 'the remainder, the rest',
    refuses: 'What is left of it stands in the second file.',
    accepts: 'The remainder is in the second file.',
  },
  {
    id: 'lives',
    pattern:
      /\b(?:process|owner|writer|holder|parent|caller)(?:es|s)? (?:that |who |which |still )?lives?\b|\bliving (?:process|owner|writer|holder)/i,
    better: 'is running, a running process',
    refuses: 'The lock of a process that lives is kept.',
    accepts: 'The lock of a running process is kept.',
  },
  {
    id: 'dead',
    pattern: /\bdead (?:ones?|process|owner|writer|holder|session)|\b(?:of|from) the dead\b/i,
    better: '… that has exited',
    refuses: 'The lock of a dead one is taken over.',
    accepts: 'The lock of a process that has exited is taken over.',
  },
  {
    id: 'also-where',
    pattern: /\balso where\b/i,
    better: 'including when',
    refuses: 'It closes the file, also where the write failed.',
    accepts: 'It closes the file, including when the write failed.',
  },
  {
    id: 'for-because',
    pattern: /[,;] for (?:it|they|he|she|there|nobody)\b (?!\w+ing\b)/i,
    better: 'because',
    refuses: 'The index is ignored, for it can be old.',
    accepts: 'The index is ignored because it can be old.',
  },
  {
    id: 'oddity',
    pattern: /\boddit(?:y|ies)\b/i,
    better: 'diagnostic',
    refuses: 'Each oddity has a line number.',
    accepts: 'Each diagnostic has a line number.',
  },
  {
    id: 'bell',
    pattern: /\bbells?\b/i,
    better: 'notifier, signal',
    refuses: 'An append rings the bell of the stream.',
    accepts: 'An append signals the stream, and the label stays.',
  },
  {
    id: 'bark',
    pattern: /\bbark(?:s|ed|ing)?\b/i,
    better: 'timeout, expires',
    refuses: 'The watchdog barks after a minute.',
    accepts: 'The timeout expires after a minute.',
  },
  {
    id: 'heed',
    pattern: /\bheed(?:s|ed|ing)?\b/i,
    better: 'obeys, follows, applies',
    refuses: 'The limit is heeded where the engine allows it.',
    accepts: 'The limit applies if the engine supports it.',
  },
  {
    id: 'residue',
    pattern: /\bresidues?\b/i,
    better: 'remainder',
    refuses: 'The residue of the line is kept.',
    accepts: 'The remainder of the line is kept.',
  },
  {
    id: 'keepable',
    pattern: /\bkeepable\b/i,
    better: 'can be stored',
    refuses: 'A value that is keepable is copied.',
    accepts: 'A value that can be stored is copied.',
  },
];
