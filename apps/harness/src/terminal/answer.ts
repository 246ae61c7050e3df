import { type CliContext, note, printJson, printLine } from './context.ts';

/** Pieces of an answer, printed as they come. A generator that is not asked for does nothing. */
export type Pieces<Piece> = Iterable<Piece> | AsyncIterable<Piece>;

/** What a command answers: rows for programs, and the same as text for people. Only one of the two is read. */
export interface Answer {
  /** With `--json`, each is one JSON document on a line. */
  readonly rows: Pieces<unknown>;
  /** Without `--json`: one text, or several, each from the start of a line. */
  readonly text: string | Pieces<string>;
  /** What a person should know first; on standard error, and only without `--json`. */
  readonly notesBefore?: readonly string[];
  /** What anybody should know besides; on standard error. */
  readonly notesAfter?: readonly string[];
  /** Why the answer is incomplete or bad; thrown after it was printed. */
  readonly failure?: Error | null;
}

/** Prints an answer, as text or as JSON. All commands that answer do it here. @throws the failure of the answer */
export async function printAnswer(
  context: CliContext,
  { json = false }: { readonly json?: boolean },
  { rows, text, notesBefore = [], notesAfter = [], failure = null }: Answer,
): Promise<void> {
  if (json) for await (const row of rows) printJson(context, row);
  else {
    for (const line of notesBefore) note(context, line);
    for await (const piece of typeof text === 'string' ? [text] : text) printLine(context, piece);
  }
  for (const line of notesAfter) note(context, line);
  if (failure !== null) throw failure;
}
