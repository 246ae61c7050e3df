import { readFileSync } from 'node:fs';
import type { DispatchStore } from '@hansard/dispatch';
import { toTimestamp } from '@hansard/events';
import { type FormatOddity, type SessionFormatId, sessionFormats } from '@hansard/formats';
import { ensureTask } from '../ensure-task.ts';
import { unreadable } from './import-formats.ts';

export interface ImportedSessionLog {
  readonly dispatchId: string;
  readonly records: number;
  readonly events: number;
  readonly oddities: readonly FormatOddity[];
}

/** Brings a session log into a new dispatch: its records have no times, so nothing tells two imports apart. */
export async function importSessionLog(
  store: DispatchStore,
  taskDir: string,
  file: string,
  format: SessionFormatId,
): Promise<ImportedSessionLog> {
  const { events, report } = sessionFormats[format].read(readSource(file), { file });
  await ensureTask(store, taskDir);
  const { dispatchId } = await store.createDispatch(taskDir, { role: 'imported', fidelity: 'full' });
  await store.appendEvents(taskDir, dispatchId, events);
  const completedAt = toTimestamp(Date.now());
  await store.updateDispatch(taskDir, dispatchId, { status: 'completed', completedAt });
  return { dispatchId, records: report.records, events: events.length, oddities: report.oddities };
}

function readSource(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}
