/** The exit codes of the `hansard` command. */
export const exitCode = { done: 0, failed: 1, usage: 2, damaged: 3, secrets: 4, waiting: 5 } as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

interface CliErrorOptions {
  readonly cause?: unknown;
  readonly isMissing?: boolean;
}

/** An error for the user of the command: the message says what happened and where, the advice how to continue. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly advice: string;
  /** Whether something is not where the command looked, so that the place helps. */
  readonly isMissing: boolean;

  constructor(code: ExitCode, message: string, advice: string, options: CliErrorOptions = {}) {
    super(message, options);
    this.isMissing = options.isMissing ?? false;
    this.exitCode = code;
    this.advice = advice;
  }
}
