import type { Step } from './model-steps.ts';

/** The most runs for which a failure is made shorter. */
const mostRuns = 600;
const mostMs = 30_000;

/**
 * The shortest failing steps that removing parts finds: first halves, then smaller and smaller parts, at last single steps and
 * single events of batches. `failsAfter` runs steps on a new store and returns how many of them it needs to fail, or null.
 */
export async function shrinkSteps(
  steps: readonly Step[],
  failsAfter: (steps: readonly Step[]) => Promise<number | null>,
): Promise<readonly Step[]> {
  const start = performance.now();
  let runs = 0;
  let shortest = steps;
  const tryOut = async (candidate: readonly Step[]): Promise<boolean> => {
    if (runs >= mostRuns || performance.now() - start > mostMs) return false;
    runs += 1;
    const count = await failsAfter(candidate);
    if (count === null) return false;
    shortest = candidate.slice(0, count);
    return true;
  };
  let size = Math.ceil(steps.length / 2);
  for (;;) {
    const before = shortest.length;
    // From the end, so that removing a part moves no part that is still to be tried.
    for (let end = shortest.length; end > 0; end = Math.min(end - size, shortest.length))
      await tryOut([...shortest.slice(0, Math.max(0, end - size)), ...shortest.slice(end)]);
    if (size > 1) size = Math.ceil(size / 2);
    else if (shortest.length === before) break;
  }
  for (let index = shortest.length - 1; index >= 0; index -= 1)
    for (;;) {
      const smaller = withoutOneEvent(shortest[index]);
      let isSmaller = false;
      for (const step of smaller) {
        isSmaller = await tryOut(shortest.with(index, step));
        if (isSmaller) break;
      }
      if (!isSmaller) break;
    }
  return shortest;
}

/** The step with each one of the events of its batch left out. */
function withoutOneEvent(step: Step | undefined): readonly Step[] {
  if (step?.method !== 'appendEvents') return [];
  const [task, dispatch, events] = step.args as readonly [string, string, readonly unknown[]];
  return events.map((_, index) => ({
    method: step.method,
    args: [task, dispatch, events.toSpliced(index, 1)],
  }));
}
