import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Where a process finds the store of a test. */
export type StoreOfTest =
  | { readonly kind: 'jsonfile'; readonly root: string }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string };

export const taskDir = 'lab/tasks/maps';
export const dispatchId = 'd1';
export const tokenOfTest = 'the-token-of-the-viewer-in-tests';

const program = fileURLToPath(new URL('store-process.ts', import.meta.url));

/** A process that reads and writes lines. */
export class LineProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  constructor(role: 'write' | 'view', store: StoreOfTest, port = 0) {
    // The built packages, which start faster than their sources.
    const args = [program, role, JSON.stringify(store), String(port)];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.stdout === null) throw new Error('The process has no output.');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The number of the next line. */
  async next(): Promise<number> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('The process ended.');
    return Number(value);
  }

  /** Writes a number, and returns that of the answer. */
  ask(line: number): Promise<number> {
    this.#child.stdin?.write(`${line}\n`);
    return this.next();
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
