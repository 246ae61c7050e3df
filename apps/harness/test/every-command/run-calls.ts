/**
 * Runs commands in this process, and prints the outcome of each as a line of JSON to the file
 * descriptor 3, because plugins print to the standard output. Its input is a list of folders with the
 * arguments of the commands to run there. It is a process of its own because one that waits for a file can only be killed.
 */
import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { callToTheEnd } from './call-to-the-end.ts';
import type { FolderCalls, Outcome } from './outcomes.ts';

interface Input {
  readonly folders: readonly FolderCalls[];
  readonly uid: number | null;
}

const { folders, uid } = JSON.parse(await text(process.stdin)) as Input;
if (uid !== null) process.setuid?.(uid);
for (const { cwd, calls } of folders)
  for (const args of calls) {
    const { code, out, err } = await callToTheEnd(cwd, args);
    const outcome: Outcome = { code, out: out.replaceAll(cwd, 'CWD'), err: err.replaceAll(cwd, 'CWD') };
    writeSync(3, `${JSON.stringify(outcome)}\n`);
  }
