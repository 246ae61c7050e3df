import { once } from 'node:events';
import { neutraliseControls } from '@hansard/events/plain';
import { type CliContext, note, terminalWidth } from './context.ts';
import { harmlessJson } from './harmless-json.ts';

/** Pieces of an answer, printed one by one. A generator that is not read does nothing. */
type Pieces<Piece> = Iterable<Piece> | AsyncIterable<Piece>;

/** The answer of a command: rows for programs, and text for people. Only one of the two is read. */
export interface Answer {
  /** With `--json`, each is one JSON document on a line. */
  readonly rows: Pieces<unknown>;
  /** Without `--json`: one text, or several, each from the start of a line. */
  readonly text: string | Pieces<string>;
  /** Whether the text is harmless already, and can have colours. Absent: control characters in it are made visible. */
  readonly isPainted?: true;
  /** Notes before the text; on standard error, and only without `--json`. */
  readonly notesBefore?: readonly string[];
  /** Notes after the answer, in both forms; on standard error. A function is called after the answer was read. */
  readonly notesAfter?: readonly string[] | (() => readonly string[]);
  /** Why the answer is incomplete or negative; thrown after the answer is printed. */
  readonly failure?: Error | null;
}

/** Prints an answer as text or as JSON, for every command. @throws the failure of the answer */
export async function printAnswer(
  context: CliContext,
  { json = false }: { readonly json?: boolean },
  { rows, text, isPainted, notesBefore = [], notesAfter = [], failure = null }: Answer,
): Promise<void> {
  using output = new JoinedOutput(context);
  if (json) for await (const row of rows) await output.print(harmlessJson(JSON.stringify(row)));
  else {
    for (const line of notesBefore) note(context, line);
    const width = isPainted === true ? undefined : terminalWidth(context);
    // Loaded only for terminals.
    const fit = width === undefined ? null : (await import('./fit-lines.ts')).fitLines;
    for await (const piece of typeof text === 'string' ? [text] : text) {
      const fitted = fit === null || width === undefined ? piece : fit(piece, width);
      await output.print(isPainted === true ? piece : neutraliseControls(fitted));
    }
  }
  output.flush();
  for (const line of typeof notesAfter === 'function' ? notesAfter() : notesAfter) note(context, line);
  if (failure !== null) throw failure;
}

/** Waits for a reader that is slower than the command, so that no answer is kept in memory. @throws AbortError after `readSignal` */
export async function letDrain({ stdout, readSignal }: CliContext): Promise<void> {
  if (stdout.writableNeedDrain) await once(stdout, 'drain', { signal: readSignal });
}

/** In characters. A longer piece is written alone. */
const mostJoined = 65_536;

/** Writes pieces that come at the same time with one call. A piece waits for no other: it is written in this turn of the event loop. */
class JoinedOutput implements Disposable {
  readonly #context: CliContext;
  #waiting = '';
  #next: NodeJS.Immediate | undefined;

  constructor(context: CliContext) {
    this.#context = context;
  }

  print(piece: string): Promise<void> | undefined {
    this.#waiting += `${piece}\n`;
    if (this.#waiting.length >= mostJoined) this.flush();
    else this.#next ??= setImmediate(() => this.flush());
    return this.#context.stdout.writableNeedDrain ? letDrain(this.#context) : undefined;
  }

  flush(): void {
    clearImmediate(this.#next);
    this.#next = undefined;
    if (this.#waiting !== '') this.#context.stdout.write(this.#waiting);
    this.#waiting = '';
  }

  [Symbol.dispose](): void {
    this.flush();
  }
}
