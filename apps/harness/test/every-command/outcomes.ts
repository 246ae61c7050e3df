import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The calls to make in one folder. */
export interface FolderCalls {
  readonly cwd: string;
  readonly calls: readonly (readonly string[])[];
}

/** The outcome of one call. The path of its folder is `CWD` in the texts. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Takes at most a second on a quiet machine. */
const longestCallMs = 15_000;

/**
 * The outcomes of the calls, by folder. A call that does not end is the end of the outcomes of its folder.
 * @param uid - the user to make the calls as; null: the user of this process
 */
export async function outcomesOf(
  folders: readonly FolderCalls[],
  uid: number | null,
): Promise<Map<string, Outcome[]>> {
  const found = new Map<string, Outcome[]>();
  let rest = folders;
  while (rest.length > 0) {
    const outcomes = await runUntilOneHangs(rest, uid);
    let isIncomplete = false;
    rest = rest.filter(({ cwd, calls }) => {
      if (isIncomplete) return true;
      const own = outcomes.splice(0, calls.length);
      found.set(cwd, own);
      isIncomplete = own.length < calls.length;
      return false;
    });
  }
  return found;
}

async function runUntilOneHangs(folders: readonly FolderCalls[], uid: number | null): Promise<Outcome[]> {
  const script = join(import.meta.dirname, 'run-calls.ts');
  const child = spawn(process.execPath, ['--conditions=@hansard/source', script], {
    stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
  });
  child.stdin?.end(JSON.stringify({ folders, uid }));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), longestCallMs);
  const outcomes: Outcome[] = [];
  for await (const line of createInterface({ input: child.stdio[3] as Readable })) {
    outcomes.push(JSON.parse(line));
    timer.refresh();
  }
  clearTimeout(timer);
  await ended;
  return outcomes;
}
