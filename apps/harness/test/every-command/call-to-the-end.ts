import { type Answer, hansardIn } from '../command-line.ts';

/** The commands that end with Ctrl-C only. */
const endless = ['view'];

/** Runs one call. One that would not end gets Ctrl-C after its first output. An address of a viewer is the same each time. */
export async function callToTheEnd(cwd: string, args: readonly string[]): Promise<Answer> {
  if (!endless.includes(String(args[0]))) return hansardIn(cwd, args);
  const ending = new AbortController();
  const answer = await hansardIn(cwd, args, { signal: ending.signal, onOutput: () => ending.abort() });
  return { ...answer, out: answer.out.replace(/127\.0\.0\.1:\d+\/\?t=[\w-]+/, 'VIEWER') };
}
