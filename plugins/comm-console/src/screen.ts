import { setImmediate } from 'node:timers/promises';

/** The output of the console: a stream or a similar object. */
export interface ConsoleOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

const usualColumns = 80;
const toLineStart = '\r\x1b[K';

/** Lines on an output, and on a terminal a live line below them that is redrawn. */
export class Screen {
  readonly #output: ConsoleOutput;
  #silent = false;
  #failure: unknown;

  constructor(output: ConsoleOutput) {
    this.#output = output;
    output.on?.('error', this.#onError);
  }

  /** The current width of the terminal; undefined if the output is not a terminal. */
  get columns(): number | undefined {
    return this.#output.isTTY === true ? this.#output.columns || usualColumns : undefined;
  }

  /** Writes a line above the live one, which may be empty. */
  print(line: string, live: string): void {
    this.#write(this.columns === undefined ? `${line}\n` : `${toLineStart}${line}\n${live}`);
  }

  /** Draws the live line of a terminal. */
  draw(live: string): void {
    if (this.columns !== undefined) this.#write(toLineStart + live);
  }

  /** Removes the live line. Nothing is written after that. */
  async close(): Promise<void> {
    this.draw('');
    this.#silent = true;
    // A stream reports a failed write asynchronously. Without a listener, the error would end the process.
    await setImmediate();
    this.#output.off?.('error', this.#onError);
  }

  /** Throws the error of the output since the last call, except when its reader has gone. */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  #write(text: string): void {
    if (this.#silent) return;
    try {
      this.#output.write(text);
    } catch (error) {
      this.#onError(error);
    }
  }

  readonly #onError = (error: unknown): void => {
    this.#silent = true;
    if (!isReaderGone(error)) this.#failure = error;
  };
}

function isReaderGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ERR_STREAM_WRITE_AFTER_END';
}
