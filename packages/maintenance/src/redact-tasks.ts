import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DispatchStore } from '@hansard/dispatch';
import { addRedactions, type RedactionCounts } from '@hansard/events';
import type { StoreError } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import type { VerifyScope } from './verify-dispatches.ts';

/** The result for the record of one task that has a secret, or whose folder has one, or that cannot be read. */
export interface RedactedTask {
  readonly taskDir: string;
  /** The secrets that were replaced, by kind; empty: none. Null if an error prevented the change. */
  readonly counts: RedactionCounts | null;
  /** The secrets that stay, by kind: in the name of the folder, and in fields of the record such as the slug. */
  readonly kept: RedactionCounts;
  readonly error: StoreError | null;
}

/**
 * Replaces the secrets in the records of tasks: each is written again. The old record can remain in unused parts of the store's
 * files. One that cannot be read is reported, and the next one follows.
 */
export async function* redactTasks(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir: only, signal }: Pick<VerifyScope, 'taskDir' | 'signal'> = {},
): AsyncGenerator<RedactedTask, undefined> {
  for (const { taskDir, task, error } of await store.listTasks()) {
    if (only !== undefined && taskDir !== only) continue;
    // Between two records: each is changed whole.
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    const kept: Record<string, number> = { ...redactor.text(taskDir).counts };
    if (error !== undefined) yield { taskDir, counts: null, kept, error };
    else if (task === null) {
      if (hasAny(kept)) yield { taskDir, counts: {}, kept, error: null };
    } else {
      addRedactions(kept, redactor.keptIn(task, 'task'));
      const { value, counts } = redactor.task(task);
      if (hasAny(counts)) await store.putTask(taskDir, value);
      if (hasAny(counts) || hasAny(kept)) yield { taskDir, counts, kept, error: null };
    }
  }
}

function hasAny(counts: RedactionCounts): boolean {
  return Object.keys(counts).length > 0;
}
