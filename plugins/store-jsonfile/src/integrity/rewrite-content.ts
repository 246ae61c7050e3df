import { encodeEvent } from '@hansard/events';
import type { DispatchRewrite } from '@hansard/provider';
import type { DispatchContext } from '../dispatch/dispatch-context.ts';
import type { DispatchName } from '../dispatch/dispatch-file.ts';
import { findTail } from '../dispatch/file-tail.ts';
import { addNotice, rewriteDispatch } from '../dispatch/rewrite-dispatch.ts';
import { corrupt } from '../errors.ts';
import { parseEventText } from '../lines/event-line.ts';
import { inspectLines, textOf } from '../lines/inspect-lines.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { examineFile, settledLines } from './examine-file.ts';
import { verifyFile } from './verify-file.ts';

/**
 * Replaces a file by a copy with the new envelope and the new forms of its events. An event that stays keeps its bytes. Only the owner
 * of the lock may call it.
 * @throws STORE_CORRUPT if anything is damaged but one copy of the head
 */
export function rewriteContentOf(
  context: DispatchContext,
  name: DispatchName,
  file: OpenFile,
  rewrite: DispatchRewrite,
): void {
  const { damages } = verifyFile(file);
  const examined = examineFile(file);
  const { head } = examined;
  // One whole copy of the head is enough: a loss of power can tear the other one.
  const events = head === null ? 0 : head.slot * 2;
  const damage = damages.find(({ offset }) => offset >= events);
  if (damage !== undefined)
    throw corrupt(file.path, damage.offset, damage.reason, { wholeEvents: damage.eventsBefore });
  if (head === null) throw corrupt(file.path, 0, 'the envelope cannot be read');
  // A loss of power can leave a torn sector before complete closing brackets.
  const lines = { ...settledLines(examined), to: findTail(file, head).end };
  const envelope = rewrite.envelope(head.envelope);
  rewriteDispatch(context, name, { revision: head.record.revision + 1, envelope }, (copier) => {
    inspectLines(lines, {
      onEvent(inspected) {
        const text = textOf(inspected);
        const event = parseEventText(text);
        if (event === null) throw corrupt(file.path, inspected.offset, 'this line is not an event');
        const rewritten = rewrite.event(event);
        const isSame = rewritten === event;
        copier.add(event.id, isSame ? text : encodeEvent(rewritten), inspected.continues);
      },
      onDamage({ offset, reason }) {
        throw corrupt(file.path, offset, reason);
      },
    });
    if (rewrite.notice !== undefined) addNotice(copier, rewrite.notice());
  });
}
