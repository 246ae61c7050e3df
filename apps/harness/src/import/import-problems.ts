import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note, printJson } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';

/** What could not be imported: each is told at once, and in the end that there was something. */
export class ImportProblems {
  readonly #context: CliContext;
  readonly #json: boolean;
  #count = 0;

  constructor(context: CliContext, json: boolean) {
    this.#context = context;
    this.#json = json;
  }

  get count(): number {
    return this.#count;
  }

  tell(file: string, error: unknown): void {
    this.#count += 1;
    const { message, advice } = explainError(error);
    note(this.#context, `hansard: ${message}\n  ${advice}`);
    if (this.#json) printJson(this.#context, { file, error: message });
  }

  throwIfAny(): void {
    if (this.#count === 0) return;
    throw new CliError(
      exitCode.failed,
      this.#count === 1
        ? '1 file or folder was not imported.'
        : `${this.#count} files or folders were not imported.`,
      'What is amiss stands above; all else is in the log.',
    );
  }
}
