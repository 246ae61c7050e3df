/** The exit codes of the `hansard` command. */
export const exitCode = { done: 0, failed: 1, usage: 2, damaged: 3, secrets: 4, waiting: 5 } as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The signals that end the command: the reason in the log, and the exit code that shells expect, 128 and the number of the signal. */
export const endingSignals = {
  SIGINT: { reason: 'Ctrl-C', code: 130 },
  SIGTERM: { reason: 'SIGTERM', code: 143 },
  SIGHUP: { reason: 'SIGHUP', code: 129 },
} as const;

/** A signal ended a command that has nothing to report about it. */
export class EndedBySignal extends Error {
  readonly exitCode: number;

  /** `reason`: the reason of the context's signal. */
  constructor(reason: unknown) {
    super(`Ended by ${String(reason)}.`);
    this.exitCode =
      Object.values(endingSignals).find((signal) => signal.reason === reason)?.code ?? exitCode.failed;
  }
}

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
