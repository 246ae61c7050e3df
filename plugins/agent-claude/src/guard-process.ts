import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Ends a process when this process exits, even if it is killed: a shell of a few hundred kilobytes waits for the end of its
 * input, which comes when the other side is closed. Returns a function that cancels the guard.
 *
 * Windows has no such shell: there the process runs until it notices the end of its parent.
 */
export function guardProcess(child: ChildProcess): () => void {
  if (child.pid === undefined || process.platform === 'win32') return () => {};
  const guard = spawn('/bin/sh', ['-c', guardScript, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C ends our process group, but must not end the guard before it has done its work.
    detached: true,
    env: { PATH: process.env.PATH ?? '' },
  });
  // Without a shell there is no guard; the agent runs all the same.
  guard.on('error', () => {});
  guard.stdin?.on('error', () => {});
  guard.unref();
  return () => guard.stdin?.end('done\n');
}

/** Requests the end, and ends the process by force 2 seconds later. An exited process gets no signal: its id can be reused. */
const guardScript = `
  read done && exit
  kill "$1" || exit
  for wait in 1 2 3 4 5 6 7 8; do sleep 0.25 || sleep 1; kill -0 "$1" || exit; done
  kill -9 "$1"
`;
