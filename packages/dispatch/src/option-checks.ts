import { didYouMean, preview } from '@hansard/events';

/** What is wrong with an option. */
interface OptionProblem {
  /** The place below the checked value: '' for the value itself, otherwise such as `.timeMs` or `[0].name`. */
  readonly path: string;
  /** In words that follow the name of the option. */
  readonly problem: string;
}

/** Returns what is wrong with a value; null: nothing. It is not asked about an absent option. */
export type OptionCheck = (value: unknown) => OptionProblem | null;

/** The checks of which the options of a call are made. */
export const optionChecks = {
  any: (() => null) satisfies OptionCheck,

  flag: must((value) => typeof value === 'boolean', 'true or false'),

  /** A text with something to read in it. */
  word: must((value) => typeof value === 'string' && value.trim() !== '', 'a text that is not empty'),

  /** A text, or a `LoggedString`. */
  text: must((value) => typeof value === 'string' || value instanceof String, 'a text'),

  call: must((value) => typeof value === 'function', 'a function'),

  /** A finite number, at least 0. */
  amount: must((value) => Number.isFinite(value) && (value as number) >= 0, 'a number from 0'),

  count: (least: number): OptionCheck =>
    must(
      (value) => Number.isSafeInteger(value) && (value as number) >= least,
      `a whole number from ${least}`,
    ),

  oneOf: (...choices: readonly string[]): OptionCheck =>
    must((value) => choices.includes(value as string), choices.join(' or ')),

  /** `false` turns the option off. */
  orFalse:
    (check: OptionCheck): OptionCheck =>
    (value) =>
      value === false ? null : check(value),

  /** An object with these methods, whatever else it has. */
  having: (...methods: readonly string[]): OptionCheck =>
    must(
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
      methods.length === 0 ? 'an object' : `an object with ${methods.join(' and ')}`,
    ),

  list:
    (check: OptionCheck): OptionCheck =>
    (value) => {
      if (!Array.isArray(value)) return { path: '', problem: `must be a list; it is ${preview(value)}` };
      for (const [index, item] of value.entries()) {
        const found = check(item);
        if (found !== null) return { ...found, path: `[${index}]${found.path}` };
      }
      return null;
    },

  /**
   * An object with these fields. The `required` fields must be given. `others` checks all other fields. Absent: another field is refused.
   */
  fields:
    (
      checks: Readonly<Record<string, OptionCheck>>,
      required: readonly string[] = [],
      others?: OptionCheck,
    ): OptionCheck =>
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return { path: '', problem: `must be an object; it is ${preview(value)}` };
      const given = value as Record<string, unknown>;
      const missing = required.find((key) => given[key] === undefined);
      if (missing !== undefined) return { path: `.${missing}`, problem: 'is missing' };
      for (const [key, item] of Object.entries(given)) {
        const check = Object.hasOwn(checks, key) ? checks[key] : others;
        const found =
          item === undefined ? null : check === undefined ? unknownOption(key, checks) : check(item);
        if (found !== null) return { ...found, path: `.${key}${found.path}` };
      }
      return null;
    },
};

function unknownOption(key: string, checks: Readonly<Record<string, OptionCheck>>): OptionProblem {
  const names = Object.keys(checks);
  const meant = didYouMean(key, names);
  const hint = meant === undefined ? `there is only ${names.join(', ')}` : `did you mean ${meant}?`;
  return { path: '', problem: `is not known; ${hint}` };
}

function must(isRight: (value: unknown) => boolean, what: string): OptionCheck {
  return (value) =>
    isRight(value) ? null : { path: '', problem: `must be ${what}; it is ${preview(value)}` };
}

/**
 * Checks the options of a call.
 * @throws the error that `refuse` makes for the first wrong option, with its name and a sentence about it
 */
export function checkOptions(
  options: unknown,
  check: OptionCheck,
  refuse: (option: string, message: string) => Error,
): void {
  const found = check(options);
  if (found === null) return;
  const option = found.path === '' ? 'options' : found.path.replace(/^\./, '');
  throw refuse(option, `${option} ${found.problem}${found.problem.endsWith('?') ? '' : '.'}`);
}
