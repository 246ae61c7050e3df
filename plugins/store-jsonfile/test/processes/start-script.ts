import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface Script {
  readonly child: ChildProcess;
  /** The next line of its output. */
  nextLine(): Promise<string>;
  /** The lines until its output ends. */
  restOfLines(): Promise<string[]>;
}

/** Starts a script of this folder, through a command such as `unshare`. It is killed when the test ends. */
export function startScript(name: string, args: readonly string[], prefix: readonly string[] = []): Script {
  const script = join(import.meta.dirname, `${name}.ts`);
  const [command = '', ...all] = [
    ...prefix,
    process.execPath,
    '--conditions=@hansard/source',
    script,
    ...args,
  ];
  const child = spawn(command, all, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async nextLine() {
      return (await lines.next()).value ?? '';
    },
    async restOfLines() {
      const rest: string[] = [];
      for await (const line of lines) rest.push(line);
      return rest;
    },
  };
}
