import { type Answer, hansardIn } from '../command-line.ts';

/** The commands that end with Ctrl-C only. */
const endless = ['view'];

/** When the calls are made, by their clock: what says how long ago something was says the same in every run. */
const later = Date.UTC(2040, 0, 1);

/** Runs one call. One that would not end gets Ctrl-C after its first output. An address of a viewer is the same each time. */
export async function callToTheEnd(cwd: string, args: readonly string[]): Promise<Answer> {
  const { signal } = new AbortController();
  if (!endless.includes(String(args[0]))) return hansardIn(cwd, args, { signal, now: () => later });
  const ending = new AbortController();
  const answer = await hansardIn(cwd, args, {
    signal: ending.signal,
    now: () => later,
    onOutput: () => ending.abort(),
  });
  return { ...answer, out: answer.out.replace(/127\.0\.0\.1:\d+\/\?t=[\w-]+/, 'VIEWER') };
}
