import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defaultCaseLimitMs, noCounts } from '../run/case-context.ts';
import { type CaseResult, casesFor, runCase } from '../run/run-case.ts';
import type { StoreUnderTest } from '../run/store-under-test.ts';

const runsFromSource = import.meta.url.endsWith('.ts');
const program = fileURLToPath(new URL(runsFromSource ? '../bin.ts' : './bin.js', import.meta.url));
/** How long a process may take to end a case whose limit is over, or itself, in milliseconds. */
const slackMs = 10_000;

/** The options of the command that change how cases run. */
export type RunOptions = Pick<StoreUnderTest, 'seed' | 'caseLimitMs' | 'large'>;

const failed = (error: string): CaseResult => ({
  status: 'failed',
  error,
  reason: null,
  notCertified: null,
  counts: noCounts(),
});

/** Runs cases in a process of their own, and in another one after a case that broke off. So one case cannot end the run. */
export class CaseProcess {
  readonly #args: readonly string[];
  readonly #limitMs: number;
  #child: ChildProcess | null = null;
  #output = '';

  constructor(module: string, options: RunOptions, limitMs = defaultCaseLimitMs) {
    this.#args = [...process.execArgv, program, '--run-cases', module, JSON.stringify(options)];
    this.#limitMs = limitMs + slackMs;
  }

  async run(id: string): Promise<CaseResult> {
    const child = this.#child ?? this.#start();
    const stop = new AbortController();
    const { signal } = stop;
    const replied = once(child, 'message', { signal }).then(([result]) => result as CaseResult);
    const exited = once(child, 'exit', { signal }).then(([code, by]) => {
      this.#child = null;
      return failed(
        `The process ended during the case (${by ?? `exit code ${code}`}). ${this.#output.trim()}`,
      );
    });
    const late = setTimeout(this.#limitMs, null, { signal }).then(() => {
      this.#child = null;
      child.kill('SIGKILL');
      return failed(`The case did not end within ${this.#limitMs} ms.`);
    });
    for (const one of [replied, exited, late]) one.catch(() => {});
    child.send(id);
    try {
      return await Promise.race([replied, exited, late]);
    } finally {
      stop.abort();
    }
  }

  /** Whether the process ends by itself, with nothing left to wait for. */
  async endsByItself(): Promise<boolean> {
    const child = this.#child;
    if (child === null) return true;
    const exited = once(child, 'exit');
    child.disconnect();
    const hasExited = await Promise.race([
      exited.then(() => true),
      setTimeout(slackMs, false, { ref: false }),
    ]);
    child.kill('SIGKILL');
    return hasExited;
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, this.#args, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
    this.#output = '';
    child.stderr?.on('data', (text) => {
      this.#output = `${this.#output}${text}`.slice(-2_000);
    });
    this.#child = child;
    return child;
  }
}

/** The program of such a process: runs the cases whose ids it is sent, until its parent disconnects. */
export function serveCases(store: StoreUnderTest): void {
  const cases = casesFor(store);
  process.on('message', async (id) => {
    const one = cases.find((each) => each.id === id);
    const result =
      one === undefined
        ? failed(`There is no case ${String(id)}.`)
        : await runCase(one, store).catch((error: unknown) => failed(String(error)));
    // A rejection that nobody handles ends the process now, and not in the next case.
    await setImmediate();
    process.send?.({ ...result, error: result.error === null ? null : String(result.error) });
  });
}
