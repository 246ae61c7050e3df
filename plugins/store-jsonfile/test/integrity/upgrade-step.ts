import { readFileSync, renameSync } from 'node:fs';
import { type CapturedEvent, encodeEvent, parseEnvelope } from '@hansard/events';
import { chainStart } from '@hansard/store-kit';
import type { DispatchName } from '../../src/dispatch/dispatch-file.ts';
import { EventCopier } from '../../src/dispatch/rewrite-dispatch.ts';
import type { Files } from '../../src/files.ts';
import { encodeHead, nothingAcknowledged, slotFor } from '../../src/head/head-codec.ts';
import { OpenFile } from '../../src/lines/open-file.ts';

/**
 * The template for a step from one disk format to the next. Format 0 is made up for it: a document with `format`, `envelope` and `events`.
 * The owner of the lock calls the step when it claims a dispatch whose file has the earlier format:
 * 1. Read the whole file. What cannot be read is damage: nothing is written.
 * 2. Write a copy under the temporary name, with the checksums of its present content, and wait for the disk.
 * 3. Rename the copy over the file. A process that is killed before this step leaves the earlier file as it was.
 * @returns false if the file already has the present format
 */
export function upgradeFrom0(
  files: Files,
  { taskDir, dispatchId, paths }: DispatchName,
  epoch: number,
): boolean {
  const [path, temporary] = [paths.file, paths.temporary(epoch)];
  const text = readFileSync(path, 'utf8');
  if (!text.startsWith('{"format":0,')) return false;
  const { envelope, events }: { envelope: unknown; events: CapturedEvent[] } = JSON.parse(text);
  const record = {
    taskDir,
    dispatchId,
    revision: 1,
    epoch,
    acknowledged: nothingAcknowledged,
    envelope: parseEnvelope(envelope),
  };
  const slot = slotFor(record);
  const copy = OpenFile.open(files, temporary, 'replace');
  try {
    const copier = new EventCopier(copy, encodeHead(record, slot).length, chainStart(taskDir, dispatchId));
    for (const event of events) copier.add(event.id, encodeEvent(event), false);
    const head = encodeHead({ ...record, acknowledged: copier.finish() }, slot);
    copy.write(head, head.length, 0);
    copy.sync();
  } finally {
    copy.close();
  }
  renameSync(temporary, path);
  return true;
}
