import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DispatchStore } from '@hansard/dispatch';
import type { RedactionCounts } from '@hansard/events';
import type { StoreError } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import type { VerifyScope } from './verify-dispatches.ts';

/** What became of the record of one task that has a secret, or that cannot be read. */
export interface RedactedTask {
  readonly taskDir: string;
  /** The secrets that were replaced, by kind. Null: nothing was changed, because of the error. */
  readonly counts: RedactionCounts | null;
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
    if (error !== undefined) yield { taskDir, counts: null, error };
    if (task === null) continue;
    const { value, counts } = redactor.task(task);
    if (Object.keys(counts).length === 0) continue;
    await store.putTask(taskDir, value);
    yield { taskDir, counts, error: null };
  }
}
