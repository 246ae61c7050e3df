import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { definedOnly } from '@hansard/events';
import { guardProcess } from './guard-process.ts';

const longestErrorOutput = 4_000;
const patienceMs = 1_000;

/** The engine's process. We start it instead of the SDK, so that we know when it has exited. */
export class EngineProcess {
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  #failure: NodeJS.ErrnoException | null = null;
  #errorOutput = '';
  #isStopped = false;

  /** For `spawnClaudeCodeProcess`. */
  readonly spawn = ({ command, args, cwd, env }: SpawnOptions): SpawnedProcess => {
    // The SDK can load a session first, and request the engine after the dispatch was stopped.
    if (this.#isStopped)
      throw new DOMException('The engine was stopped before it was started.', 'AbortError');
    const child = spawn(command, args, {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      ...definedOnly({ cwd }),
    });
    this.#child = child;
    const callOff = guardProcess(child);
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        callOff();
        resolve();
      });
      child.once('error', (error) => {
        this.#failure = error;
        resolve();
      });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-longestErrorOutput);
    });
    return child;
  };

  /** Why it could not be started; null: it was started, or not requested. */
  get failure(): NodeJS.ErrnoException | null {
    return this.#failure;
  }

  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  /** The end of what it wrote to its standard error. */
  get errorOutput(): string {
    return this.#errorOutput.trim();
  }

  /** Ends the process, by force if it does not end on request, and prevents another start. Resolves when it has exited. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (!this.#isAlive()) return;
      this.#child?.kill(signal);
      await Promise.race([this.#exited, delay(patienceMs, undefined, { ref: false })]);
    }
    await this.#exited;
  }

  /** Resolves when it has exited by itself, or with false after `ms`. */
  async whenGone(ms: number): Promise<boolean> {
    return await Promise.race([this.#exited.then(() => true), delay(ms, false, { ref: false })]);
  }

  #isAlive(): boolean {
    const child = this.#child;
    return child !== null && child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }
}
