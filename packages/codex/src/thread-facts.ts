import { asName, asObject, dispatchIdOf } from '@hansard/claude';
import type { EventData, JsonObject } from '@hansard/events';

/** What the first `session_meta` of a rollout says about its thread. */
export interface ThreadFacts {
  readonly threadId: string | null;
  /** The first thread of the tree that this one belongs to, as far as the record names it. */
  readonly rootThreadId: string | null;
  /** The thread that created this one as a sub-agent, for a review or for another work of the engine. */
  readonly parentThreadId: string | null;
  /** Whether another thread created this one. */
  readonly isSubAgent: boolean;
  /** The thread whose head this one repeats, or begins after. */
  readonly forkedFromId: string | null;
  readonly cwd: string | null;
  /** The place of this thread among the agents of its tree, such as `/root/counter`. */
  readonly agentPath: string | null;
}

export function threadFactsOf(meta: JsonObject): ThreadFacts {
  const source = asObject(meta.source);
  const subAgent = source?.subagent;
  const spawn = asObject(asObject(subAgent)?.thread_spawn);
  const threadId = asName(meta.id) ?? null;
  const parentThreadId = asName(meta.parent_thread_id) ?? asName(spawn?.parent_thread_id) ?? null;
  return {
    threadId,
    rootThreadId: asName(meta.session_id) ?? parentThreadId ?? threadId,
    parentThreadId,
    isSubAgent: subAgent !== undefined || parentThreadId !== null,
    forkedFromId: asName(meta.forked_from_id) ?? asName(asObject(meta.history_base)?.thread_id) ?? null,
    cwd: asName(meta.cwd) ?? null,
    agentPath: asName(meta.agent_path) ?? asName(spawn?.agent_path) ?? null,
  };
}

/** The dispatch of a thread: named by the product and the id of the thread alone. */
export function dispatchOfThread(threadId: string): string {
  return dispatchIdOf(`codex\n${threadId}`, 0);
}

/**
 * The `session:fork` of a thread; null if the thread is not a fork. A fork that copies nothing names the last record
 * of its origin.
 */
export function forkOf(meta: JsonObject, { forkedFromId }: ThreadFacts): EventData<'session:fork'> | null {
  if (forkedFromId === null) return null;
  const from = {
    product: 'codex',
    sessionId: forkedFromId,
    dispatchId: dispatchOfThread(forkedFromId),
  };
  const end = asObject(meta.history_base)?.end_ordinal_exclusive;
  if (typeof end !== 'number' || !Number.isSafeInteger(end) || end < 1) return { from, kind: 'fork' };
  return { from, through: `ordinal:${end - 1}` };
}
