import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import {
  type ImportItem,
  type ImportOptions,
  type ImportReport,
  importErrors,
  importLogs,
} from '@hansard/import';
import type { LogImporterProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { namesOf, type SourceFolder, type WrittenRecord } from './written-source.ts';

export const task = 'kit/tasks/source';
/** After every time of a source. */
export const now = Date.parse('2031-05-05T05:05:05.555Z');

export const openStore = (): DispatchStore => openDispatchStore(createMemoryStore());

/** The paths that an import of the source names: its main file, or all files if the importer groups files. */
export function pathsOf(
  importer: LogImporterProvider,
  folder: SourceFolder,
  records: readonly WrittenRecord[],
): string[] {
  const names = namesOf(records);
  return (importer.group === undefined ? names.slice(0, 1) : names).map((name) => join(folder.path, name));
}

/** Imports a source, and gives its items. A failure is thrown. */
export async function importAll(
  store: DispatchStore,
  importer: LogImporterProvider,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportItem[]> {
  const items: ImportItem[] = [];
  const given = {
    importers: [importer],
    as: importer.id,
    task,
    now: () => now,
    prices: false as const,
    ...options,
  };
  for await (const item of importLogs(store, paths, given)) {
    // A link out of the source is named, and not followed.
    if (item.kind === 'failed' && importErrors.is(item.error, 'IMPORT_LINK_OUTSIDE')) continue;
    if (item.kind === 'failed')
      throw new Error(`The import failed: ${String(item.error)}`, { cause: item.error });
    items.push(item);
  }
  return items;
}

export function reportsOf(items: readonly ImportItem[]): ImportReport[] {
  return items.filter((item): item is ImportReport => item.kind === 'imported');
}

export interface StoredDispatch {
  readonly envelope: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];
}

export async function storedIn(store: DispatchStore): Promise<StoredDispatch[]> {
  const envelopes = await store.getDispatchEnvelopes(task);
  const stored: StoredDispatch[] = [];
  for (const envelope of envelopes)
    stored.push({ envelope, events: await store.getDispatchEvents(task, envelope.dispatchId) });
  return stored.sort((a, b) => (a.envelope.dispatchId < b.envelope.dispatchId ? -1 : 1));
}

/**
 * What must be equal however a source was imported: the events of each agent in their order, and the envelope. Events of several files
 * can be in another order, and an agent can be introduced at another place.
 */
export function stateOf(stored: readonly StoredDispatch[], order: 'of-agents' | 'any' = 'of-agents') {
  const inOrder = (events: readonly CapturedEvent[]) =>
    order === 'any' ? events.toSorted((a, b) => (a.id < b.id ? -1 : 1)) : events;
  return stored.map(({ envelope, events }) => ({
    envelope: {
      ...envelope,
      folded: null,
      source: {
        ...envelope.source,
        kept: null,
        run: null,
        ...(events.some(({ id }) => versionPattern.test(id)) ? { events: lastVersions(events).length } : {}),
      },
    },
    byAgent: Object.fromEntries(
      Map.groupBy(
        inOrder(lastVersions(events)).filter(({ type }) => type !== 'agent:created'),
        ({ agentId = '' }) => agentId,
      ),
    ),
    created: Object.fromEntries(
      lastVersions(events)
        .filter(({ type }) => type === 'agent:created')
        .map((event) => [event.id, event]),
    ),
  }));
}

const versionPattern = /:rewritten-\d+$/;

/** The last version of each item, at the place of its first one. */
function lastVersions(events: readonly CapturedEvent[]): CapturedEvent[] {
  const items = new Map<string, CapturedEvent>();
  for (const event of events) {
    const id = event.id.replace(versionPattern, '');
    const { retracts: _, ...version } = event;
    items.set(id, id === event.id ? event : { ...version, id });
  }
  return [...items.values()];
}
