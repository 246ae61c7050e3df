import type { FileStep } from './file-step.ts';
import type { Lines } from './line-table.ts';

/** A step of one session. */
export interface SessionStep {
  readonly step: FileStep;
  /** Milliseconds since 1970; null: not recorded. */
  readonly time: number | null;
}

export interface ReplayOrder<Step extends SessionStep> {
  readonly steps: readonly Step[];
  /** Whether the contents do not chain without a break, and times are missing or another order has no more breaks. */
  readonly isUnsure: boolean;
}

/**
 * The order in which the steps of several sessions are replayed. Each session keeps its own order. Between sessions the recorded times give
 * it, unless another order of the contents has fewer breaks: then clocks differ or times are missing.
 */
export function replayOrder<Step extends SessionStep>(
  sessions: readonly (readonly Step[])[],
  /** The path and the content that the file has at the end. */
  end: { readonly path: string; readonly content: Lines } | null,
): ReplayOrder<Step> {
  const queues = sessions.filter((steps) => steps.length > 0).map((steps) => steps.map(keyed));
  const last = end === null ? null : { path: end.path, content: keyOf(end.content) };
  const timed = merge(queues, false, last);
  if (queues.length < 2 || timed.breaks === 0) return { steps: timed.steps, isUnsure: false };
  const chained = merge(queues, true, last);
  const isBetter = chained.breaks < timed.breaks;
  const { steps, breaks } = isBetter ? chained : timed;
  const isTimed = steps.every(({ time }) => time !== null);
  const isOther = chained.breaks <= breaks && chained.steps.some((step, at) => step !== timed.steps[at]);
  return { steps, isUnsure: breaks > 0 && (isOther || !isTimed) };
}

/** A step with the keys of its contents. Two contents with one key only make an order that has more breaks. */
interface Keyed<Step extends SessionStep> {
  readonly one: Step;
  readonly time: number;
  readonly path: string;
  readonly from: string;
  /** Undefined: not recorded. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isNew: boolean;
  /** What another step has to leave before. Undefined: nothing. */
  readonly needed: string | undefined;
}

function keyed<Step extends SessionStep>(one: Step): Keyed<Step> {
  const { path, from, before, after, isSeen } = one.step;
  const known = isSeen ? after : before;
  const content = known === undefined ? undefined : keyOf(known);
  return {
    one,
    time: one.time ?? Number.NEGATIVE_INFINITY,
    path,
    from: from ?? path,
    before: content,
    after: after === undefined ? undefined : keyOf(after),
    isNew: known === null,
    needed: content === undefined || content === nothing ? undefined : `${content} ${from ?? path}`,
  };
}

/** No file has the content of an empty one. */
function keyOf(content: Lines | null): string {
  let hash = 0;
  for (const line of content ?? []) hash = (Math.imul(hash, 31) + line) | 0;
  return `${content?.length ?? 0} ${hash}`;
}

const nothing = keyOf(null);

function merge<Step extends SessionStep>(
  sessions: readonly (readonly Keyed<Step>[])[],
  isChained: boolean,
  end: { readonly path: string; readonly content: string } | null,
): { readonly steps: readonly Step[]; readonly breaks: number } {
  const queues = sessions.map((steps) => ({ steps, at: 0, head: steps[0] as Keyed<Step> }));
  const contents = new Map<string, string>();
  const awaited = isChained ? new AwaitedContents(sessions.flat()) : null;
  const rank = (head: Keyed<Step>) => {
    if (awaited === null || follows(head, contents) === true) return 0;
    return awaited.isAwaited(head) ? 2 : 1;
  };
  const steps: Step[] = [];
  let breaks = 0;
  while (queues.length > 0) {
    let [next, best] = [0, Number.POSITIVE_INFINITY];
    for (const [at, { head }] of queues.entries()) {
      const own = rank(head);
      if (own < best || (own === best && head.time < (queues[next]?.head.time ?? 0)))
        [next, best] = [at, own];
    }
    const queue = queues[next] as (typeof queues)[number];
    const { head } = queue;
    if (follows(head, contents) === false) breaks += 1;
    if (head.from !== head.path) contents.delete(head.from);
    if (head.after === undefined) contents.delete(head.path);
    else contents.set(head.path, head.after);
    awaited?.count(head, -1);
    steps.push(head.one);
    queue.at += 1;
    if (queue.at === queue.steps.length) queues.splice(next, 1);
    else queue.head = queue.steps[queue.at] as Keyed<Step>;
  }
  const last = end === null ? undefined : contents.get(end.path);
  if (end !== null && last !== undefined && last !== end.content) breaks += 1;
  return { steps, breaks };
}

/** Whether the content before a step equals the result of the earlier steps; null if one of the two is not recorded. */
function follows(step: Keyed<SessionStep>, contents: ReadonlyMap<string, string>): boolean | null {
  const content = contents.get(step.from);
  if (step.before === undefined || (content === undefined && !step.isNew)) return null;
  return step.before === (content ?? nothing);
}

/** The contents that steps leave which were not taken yet: a step that needs one of them waits. */
class AwaitedContents {
  readonly #left = new Map<string, number>();

  constructor(steps: readonly Keyed<SessionStep>[]) {
    for (const step of steps) this.count(step, 1);
  }

  isAwaited({ needed }: Keyed<SessionStep>): boolean {
    return needed !== undefined && (this.#left.get(needed) ?? 0) > 0;
  }

  count({ one, path, after }: Keyed<SessionStep>, count: number): void {
    if (after === undefined || one.step.isSeen) return;
    const key = `${after} ${path}`;
    this.#left.set(key, (this.#left.get(key) ?? 0) + count);
  }
}
