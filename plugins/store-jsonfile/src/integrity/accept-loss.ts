import type { CapturedEvent } from '@hansard/events';
import type { DispatchVerification } from '@hansard/provider';
import { names } from '../disk-format.ts';
import type { FencedClaim } from '../dispatch/dispatch-claims.ts';
import type { DispatchContext } from '../dispatch/dispatch-context.ts';
import { addNotice, rewriteDispatch } from '../dispatch/rewrite-dispatch.ts';
import { corrupt } from '../errors.ts';
import type { Files } from '../files.ts';
import { eventIdOf, parseEventText } from '../lines/event-line.ts';
import { inspectLines, textOf } from '../lines/inspect-lines.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { examineFile, settledLines, verifyFile } from './verify-file.ts';

/**
 * Replaces a damaged file by a copy with its whole events and a notice, and keeps the damaged one under another name. One
 * without damage is left alone. * @throws STORE_CORRUPT if the envelope cannot be read
 */
export function acceptLossOf(
  context: DispatchContext,
  claim: FencedClaim,
  file: OpenFile,
  notice: CapturedEvent,
): DispatchVerification {
  const { name } = claim;
  const verification = verifyFile(file, name);
  if (verification.damages.length === 0) return verification;
  const examined = examineFile(file, name);
  const { head } = examined;
  if (head === null)
    throw corrupt(file.path, 0, 'both copies of the head are damaged, and with them the envelope');
  const lines = settledLines(examined);
  const ids = new Set<string>();
  rewriteDispatch(
    context,
    claim,
    { revision: head.record.revision + 1, envelope: head.record.envelope },
    (copier) => {
      inspectLines(lines, {
        onEvent(event) {
          const text = textOf(event);
          const id = eventIdOf(event.bytes, event.start, event.end) ?? parseEventText(text)?.id ?? '';
          // A line that was doubled in a file without checksums.
          if (ids.has(id)) return;
          ids.add(id);
          copier.add(id, text, event.continues);
        },
        onDamage: () => {},
      });
      addNotice(copier, notice);
    },
    freeName(context.files, name.paths.file),
  );
  return verification;
}

function freeName(files: Files, file: string): string {
  return damagedName(file, keptDamaged(files, file).length + 1);
}

/** The files that were kept when a loss was accepted. */
export function keptDamaged(files: Files, file: string): string[] {
  const kept: string[] = [];
  for (let number = 1; files.lstat(damagedName(file, number)) !== null; number += 1)
    kept.push(damagedName(file, number));
  return kept;
}

function damagedName(file: string, number: number): string {
  return `${file}${names.damaged}${number}`;
}
