import { openDispatchStore } from '@hansard/dispatch';
import { isHansardError } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importErrors, logImporters } from '../src/index.ts';
import { importAll, LogFolder, logOfFormat } from './logs.ts';

const task = 'lab/tasks/logs';
/** A database has no text form. */
const formats = logImporters.map(({ id }) => id).filter((id) => !id.startsWith('opencode'));
const pairs = formats.flatMap((as) => formats.filter((of) => of !== as).map((of) => [as, of] as const));

async function importAs(content: string, as?: string) {
  using folder = new LogFolder();
  await using store = openDispatchStore(createMemoryStore());
  const items = await importAll(store, [folder.put('log.jsonl', content)], { task, as });
  return { items, stored: await store.getDispatchEnvelopes(task) };
}

describe('the format of a log', () => {
  it.each(formats)('is found by the records of a %s', async (format) => {
    const { items, stored } = await importAs(logOfFormat[format] ?? '');
    expect(items).toMatchObject([{ kind: 'imported', format }]);
    expect(stored).toHaveLength(1);
  });

  it.each(formats)('can be named: %s', async (format) => {
    const { items } = await importAs(logOfFormat[format] ?? '', format);
    expect(items).toMatchObject([{ kind: 'imported', format }]);
  });

  it.each(pairs)('%s is refused for a %s, and nothing is recorded', async (as, of) => {
    const { items, stored } = await importAs(logOfFormat[of] ?? '', as);
    expect(items).toMatchObject([{ kind: 'failed', isOnly: true }]);
    const [item] = items;
    const error = item?.kind === 'failed' ? item.error : null;
    expect([isHansardError(error), stored]).toEqual([true, []]);
    const areDialects = as.startsWith('session') && of.startsWith('session');
    expect((error as { code: string }).code).toBe(
      areDialects ? 'FORMAT_OTHER_DIALECT' : 'IMPORT_FORMAT_MISMATCH',
    );
  });

  it.each(formats)('%s is refused for records of no format', async (as) => {
    const { items, stored } = await importAs('{"hello":1}\n', as);
    expect(items).toMatchObject([
      { kind: 'failed', error: { code: expect.stringMatching(/^(FORMAT_|IMPORT_FOREIGN)/) } },
    ]);
    expect(stored).toEqual([]);
  });

  it('that is unknown is refused', async () => {
    const error = await importAs('{}', 'diary').catch((thrown: unknown) => thrown);
    expect(importErrors.is(error, 'IMPORT_FORMAT_UNKNOWN')).toBe(true);
  });
});
