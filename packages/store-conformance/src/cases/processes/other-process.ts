import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, taskDir } from '../../checks/prepared-store.ts';
import type { Reply } from '../../processes/serve-store.ts';
import { type StoreProcess, startProcess } from '../../processes/store-process.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { skipCase } from '../../run/conformance-case.ts';

/** A process that has claimed the dispatch and appends to it until it is refused. */
export async function startWriter(context: CaseContext, textLength: number): Promise<StoreProcess> {
  const child = await startProcess(context);
  const reply = await child.call('claimDispatch', taskDir, dispatchId);
  sameContent(codeOf(reply), null, 'claimDispatch of a free dispatch');
  child.send({ appendTo: [taskDir, dispatchId], prefix: 'writer', textLength });
  return child;
}

/** The lease of the store, for a case that waits for it. */
export function leaseOf({ leaseMs }: CaseContext): number {
  return leaseMs ?? skipCase('the options have no leaseMs, so the kit does not know how long to wait');
}

/** The code of a refusal; null for an answer. */
export function codeOf(reply: Reply | null): string | null {
  if (reply === null) return 'the process ended';
  return 'error' in reply ? `${reply.error}` : null;
}
