import { emitKeypressEvents, type Interface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';

/** Milliseconds after which an escape is a key by itself, and not the beginning of one: a slow line may divide it. */
const escapeMs = 100;
/** Another screen, so that the text of the shell comes back; no cursor, no wrapping at the last column. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const leave = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';

/** Windows has no stopped processes. */
const canStop = process.platform !== 'win32';

/** A text of a line. It is harmless, and fits. */
export interface ScreenPart {
  /** From 0. */
  readonly column: number;
  readonly text: string;
}

export interface ScreenFrame {
  readonly lines: readonly (readonly ScreenPart[])[];
  /** Where a person types; null: nowhere. */
  readonly cursor: { readonly line: number; readonly column: number } | null;
}

/** A key: its name, such as `j`, `G`, `down`, `ctrl-f`, and the text that it types. */
export interface PressedKey {
  readonly name: string;
  readonly text: string;
}

interface ScreenListener {
  onKey(key: PressedKey): void;
  /** Everything is to be drawn again: the size changed, or the program continues after a stop. */
  onSize(): void;
}

/**
 * A terminal of which a program has the whole screen. It is given back by `close`, and whatever else ends the process: the `exit` of Node comes
 * after errors and signals. A stop (Ctrl-Z, SIGTSTP) gives it back until the process continues.
 */
export class TerminalScreen {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #listener: ScreenListener;
  /** The lines as they are on the screen. */
  #shown: readonly string[] = [];
  #isEntered = false;

  constructor(input: ReadStream, output: WriteStream, listener: ScreenListener) {
    this.#input = input;
    this.#output = output;
    this.#listener = listener;
  }

  get size(): { readonly columns: number; readonly lines: number } {
    return { columns: this.#output.columns, lines: this.#output.rows };
  }

  open(): void {
    // The only thing of an interface that is used.
    emitKeypressEvents(this.#input, { escapeCodeTimeout: escapeMs } as unknown as Interface);
    this.#input.on('keypress', this.#onKeypress);
    this.#input.on('error', onInputError);
    this.#output.on('resize', this.#onResize);
    process.on('exit', this.#onExit);
    if (canStop) process.on('SIGTSTP', this.#onStop).on('SIGCONT', this.#onContinue);
    this.#enter();
  }

  close(): void {
    this.#leave();
    this.#input.off('keypress', this.#onKeypress);
    // `onInputError` stays: a terminal that is gone reports that late.
    this.#output.off('resize', this.#onResize);
    process.off('exit', this.#onExit);
    if (canStop) process.off('SIGTSTP', this.#onStop).off('SIGCONT', this.#onContinue);
  }

  /** Writes the lines that differ from those on the screen, in one piece. */
  draw({ lines, cursor }: ScreenFrame): void {
    if (!this.#isEntered) return;
    const now = lines.map((parts) =>
      parts.map(({ column, text }) => `\u001b[${column + 1}G${text}`).join(''),
    );
    const changes = now.map((line, at) =>
      line === this.#shown[at] ? '' : `\u001b[${at + 1};1H\u001b[0m\u001b[2K${line}\u001b[0m`,
    );
    this.#shown = now;
    const end =
      cursor === null ? '\u001b[?25l' : `\u001b[${cursor.line + 1};${cursor.column + 1}H\u001b[?25h`;
    this.#output.write(changes.join('') + end);
  }

  /** Gives the terminal back and stops the process, with those that started it for the shell, until the shell continues it. */
  stop(): void {
    if (canStop) process.kill(0, 'SIGTSTP');
  }

  #enter(): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    this.#shown = [];
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#output.write(enter);
  }

  #leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    this.#output.write(leave);
    try {
      this.#input.setRawMode(false);
    } catch {
      // The terminal is gone, such as after SIGHUP.
    }
    this.#input.pause();
  }

  readonly #onKeypress = (
    text: string | undefined,
    key: { readonly name?: string; readonly ctrl: boolean; readonly meta: boolean; readonly shift: boolean },
  ) => {
    this.#listener.onKey({ name: nameOf(text, key), text: isTyped(text) && !key.meta ? text : '' });
  };

  readonly #onResize = () => {
    this.#shown = [];
    if (this.#isEntered) this.#output.write('\u001b[2J');
    this.#listener.onSize();
  };

  readonly #onExit = () => this.#leave();

  readonly #onStop = () => {
    this.#leave();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #onContinue = () => {
    this.#enter();
    this.#listener.onSize();
  };
}

/** The terminal is gone, as after SIGHUP, which ends the process. */
function onInputError(): void {}

function nameOf(
  text: string | undefined,
  { name, ctrl, meta, shift }: { name?: string; ctrl: boolean; meta: boolean; shift: boolean },
): string {
  if (ctrl && name !== undefined) return `ctrl-${name}`;
  if (meta && name !== undefined && name !== 'escape') return `meta-${name}`;
  if (name === 'tab' && shift) return 'shift-tab';
  if (name === 'enter') return 'return';
  return isTyped(text) ? text : (name ?? '');
}

/** Whether a key types a text without control characters. */
function isTyped(text: string | undefined): text is string {
  return text !== undefined && /^[^\p{Cc}\p{Cs}]+$/u.test(text);
}
