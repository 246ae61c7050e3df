import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { type ImportItem, logImporters } from '../src/index.ts';
import { foreignSamples } from './foreign-samples.ts';
import { importAll, LogFolder, lines, logOfFormat, prompts } from './logs.ts';

const task = 'lab/tasks/foreign';
const formats = logImporters.map(({ id }) => id);

/** The items of an import, and what the store has after it. */
async function importOf(paths: readonly string[], as?: string) {
  await using store = openDispatchStore(createMemoryStore());
  const items = await importAll(store, paths, { task, as });
  const stored = await store.getDispatchEnvelopes(task);
  const events = await Promise.all(stored.map(({ dispatchId }) => store.getDispatchEvents(task, dispatchId)));
  return { items, stored, events: events.flat() };
}

function errorsOf(items: readonly ImportItem[]): (readonly [code: string, message: string])[] {
  return items.flatMap((item) => {
    if (item.kind !== 'failed') return [];
    const { code, message } = item.error as { code: string; message: string };
    return [[code, message] as const];
  });
}

describe('a file of another product', () => {
  it.each(foreignSamples)('is named, and nothing is recorded: $product, $name', async (sample) => {
    using folder = new LogFolder();
    const { items, stored } = await importOf([folder.put(sample.name, sample.content)]);
    const message = expect.stringContaining(`is a file of ${sample.product}: not supported yet.`);
    expect(errorsOf(items)).toEqual([['IMPORT_PRODUCT_UNSUPPORTED', message]]);
    expect(stored).toEqual([]);
  });

  it.each(foreignSamples)(
    'is not imported as any format, whichever is named: $product, $name',
    async (sample) => {
      using folder = new LogFolder();
      const path = folder.put(sample.name, sample.content);
      for (const as of formats) {
        const { items, stored } = await importOf([path], as);
        expect([as, items, stored]).toMatchObject([as, [{ kind: 'failed' }], []]);
      }
    },
  );

  it.each(foreignSamples.filter(({ name }) => name.endsWith('.jsonl')))(
    'is not imported from any prefix of at least five records: $product, $name',
    async ({ content }) => {
      const all = content.split('\n').slice(0, -1);
      for (let count = 5; count <= all.length; count += 1) {
        using folder = new LogFolder();
        const path = folder.put('log.jsonl', `${all.slice(0, count).join('\n')}\n`);
        for (const as of [undefined, ...formats])
          expect([count, as, (await importOf([path], as)).stored]).toEqual([count, as, []]);
      }
    },
  );

  it('is one line for all files of a product in a folder, and the logs beside them are imported', async () => {
    using folder = new LogFolder();
    const [codex] = foreignSamples;
    for (let number = 1; number <= 58; number += 1)
      folder.put(`sessions/${number}/rollout-${number}.jsonl`, codex?.content ?? '');
    expect(errorsOf((await importOf([folder.path])).items)).toEqual([
      ['IMPORT_PRODUCT_UNSUPPORTED', '58 files of Codex: not supported yet.'],
    ]);
    for (const { name, content, product } of foreignSamples)
      if (product === 'SWE-agent') folder.put(`runs/${name}`, content);
    folder.put('ours.jsonl', lines(...prompts(2)));
    const { items, stored } = await importOf([folder.path]);
    expect(errorsOf(items).map(([, message]) => message)).toEqual([
      '2 files of SWE-agent: not supported yet.',
      '58 files of Codex: not supported yet.',
    ]);
    expect(stored).toHaveLength(1);
  });
});

describe('a log whose records are of its format in part', () => {
  const entry = (n: number, more: object = {}) => ({
    message_id: `m${n}`,
    event_type: 'transcript_entry',
    agent_id: 'a',
    role: 'user',
    content: 'Hi',
    ...more,
  });
  const agent = { message_id: 'm0', event_type: 'agent_created', agent_id: 'a' };
  const log = (unnamed: number, unknown: number, all: number) => [
    agent,
    ...Array.from({ length: all - 1 }, (_, at) =>
      at < unnamed ? entry(at, { agent_id: undefined }) : at < unnamed + unknown ? { hello: at } : entry(at),
    ),
  ];

  it.each([
    ['a tenth without their agent', log(2, 0, 20), true],
    ['more than a tenth without their agent', log(3, 0, 20), false],
    ['half of an unknown type', log(0, 10, 20), true],
    ['more than half of an unknown type', log(0, 11, 20), false],
  ])('%s', async (_, records, isImported) => {
    using folder = new LogFolder();
    const { items } = await importOf([folder.put('log.jsonl', lines(...records))], 'session-v2');
    expect(errorsOf(items).map(([code]) => code)).toEqual(isImported ? [] : ['IMPORT_FOREIGN']);
  });

  it('is refused before anything of a transcript is recorded, including when the format is named', async () => {
    using folder = new LogFolder();
    const others = Array.from({ length: 5 }, (_, at) => ({ type: 'note', number: at }));
    const path = folder.put('log.jsonl', lines(...prompts(4), ...others));
    const { items, stored } = await importOf([path], 'claude-transcript');
    expect(errorsOf(items)).toEqual([
      ['IMPORT_FOREIGN', expect.stringContaining('only 4 of 9 records (44 %) are of a known type.')],
    ]);
    expect(stored).toEqual([]);
  });

  it('is reported as one without a conversation if all its records are bookkeeping', async () => {
    using folder = new LogFolder();
    const summary = { type: 'summary', summary: 'Shop', leafUuid: 'u1' };
    const snapshot = { type: 'file-history-snapshot', messageId: 'm1', snapshot: { trackedFileBackups: {} } };
    const path = folder.put('s.jsonl', lines(summary, snapshot, summary, snapshot, summary, snapshot));
    const { items } = await importOf([path]);
    expect(items).toMatchObject([{ kind: 'imported', counts: { no_conversation: 1 } }]);
  });
});

describe('a log in another form', () => {
  const fixture = (name: string) => join(import.meta.dirname, 'fixtures/field-reports/c41', name);
  /** The types and data of events, without notices and what differs between the recordings. */
  const said = (events: readonly { type: string; data: object }[]) =>
    events
      .filter(({ type }) => type !== 'system:notice')
      .map(({ type, data }) => [type, JSON.stringify(data).replaceAll(/c410000\d/g, 'c410000x')]);

  it.each(['array.json', 'array.jsonl', 'cold.jsonl.gz'])(
    'gives the same events as its lines (c41): %s',
    async (name) => {
      const expected = said((await importOf([fixture('noise.jsonl')])).events);
      expect(expected).toHaveLength(4);
      const { items, events } = await importOf([fixture(name)]);
      expect(errorsOf(items)).toEqual([]);
      expect(said(events)).toEqual(expected);
    },
  );

  const utf16 = (text: string, isBig: boolean, mark: string) => {
    const bytes = Buffer.from(`${mark}${text}`, 'utf16le');
    return isBig ? bytes.swap16() : bytes;
  };
  const forms: readonly (readonly [name: string, form: (text: string) => Buffer])[] = [
    ['UTF-16, little end first', (text) => utf16(text, false, '\uFEFF')],
    ['UTF-16, big end first', (text) => utf16(text, true, '\uFEFF')],
    ['UTF-16 without a mark, little end first', (text) => utf16(text, false, '')],
    ['UTF-16 without a mark, big end first', (text) => utf16(text, true, '')],
    ['gzip', (text) => gzipSync(text)],
    ['UTF-16 in gzip', (text) => gzipSync(utf16(text, false, '\uFEFF'))],
    ['a JSON array', (text) => Buffer.from(`[${text.trim().split('\n').join(',')}]`)],
    ['a JSON array over lines', (text) => Buffer.from(`[\n${text.trim().split('\n').join(',\n')}\n]\n`)],
  ];
  const ofLines = formats.filter((format) => format !== 'werewolf-match' && !format.startsWith('opencode'));
  // A trajectory is a document, so it has no lines that could be a list.
  const isForm = (name: string, format: string) => format !== 'atif' || !name.startsWith('a JSON array');
  const inForms = forms.flatMap(([name, form]) =>
    ofLines.filter((format) => isForm(name, format)).map((format) => ({ name, form, format })),
  );
  it.each(inForms)('is read as its lines are: $format, $name', async ({ form, format }) => {
    const text = (logOfFormat[format] ?? '').replaceAll('Hello', 'Hello Ünï 🦊');
    using folder = new LogFolder();
    const plain = await importOf([folder.put('plain/log.jsonl', text)]);
    const path = folder.put('packed/log.jsonl', '');
    writeFileSync(path, form(text));
    const packed = await importOf([path]);
    expect(packed.items).toMatchObject([{ kind: 'imported', format }]);
    const content = ({ events }: typeof plain) => events.map(({ type, data }) => [type, data]);
    expect(content(packed)).toEqual(content(plain));
  });

  it('that grows gives the same events at last, and is found in a folder', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl.gz', '');
    for (const count of [2, 4, 9]) {
      writeFileSync(path, gzipSync(lines(...prompts(count))));
      const [item] = await importAll(store, [folder.path], { task });
      expect(item).toMatchObject({ kind: 'imported', events: count });
    }
  });
});

describe('a file that is not a log', () => {
  const random = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 256));
  const large = `{"a":"${'x'.repeat(3_000_000)}"}\n`;
  it.each<[string, string | Buffer, string]>([
    ['bytes', random, 'IMPORT_FORMAT_UNKNOWN'],
    ['nothing', '', 'FORMAT_EMPTY'],
    ['line feeds', '\n'.repeat(5_000), 'FORMAT_EMPTY'],
    ['NUL bytes', '\0'.repeat(5_000), 'FORMAT_EMPTY'],
    ['NUL bytes and text', `\0\0\0hello\0`, 'IMPORT_FORMAT_UNKNOWN'],
    ['numbers', '1\n2\n3\n4\n5\n6\n', 'IMPORT_FORMAT_UNKNOWN'],
    ['lists of numbers', '[1,2]\n[3]\n'.repeat(10), 'IMPORT_FORMAT_UNKNOWN'],
    ['a first line of three megabytes', large, 'IMPORT_FORMAT_UNKNOWN'],
    ['a file that begins like gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3]), 'IMPORT_FORMAT_UNKNOWN'],
    ['deep nesting', '['.repeat(100_000), 'IMPORT_FORMAT_UNKNOWN'],
    ['chat messages', '{"role":"user","content":"Hi"}\n'.repeat(6), 'IMPORT_FORMAT_UNKNOWN'],
  ])(
    'is refused, whichever format is named, and no text advises to name one: %s',
    async (_, content, code) => {
      using folder = new LogFolder();
      const path = folder.put('log.jsonl', '');
      writeFileSync(path, content);
      for (const as of [undefined, ...formats]) {
        const { items, stored } = await importOf([path], as);
        expect([as, stored]).toEqual([as, []]);
        expect(items).toMatchObject([
          { kind: 'failed', error: { code: as === undefined ? code : expect.any(String) } },
        ]);
        const [item] = items;
        const { message, advice } = (item?.kind === 'failed' ? item.error : {}) as Record<string, string>;
        expect(`${message} ${advice}`).not.toMatch(/--as|`as`/);
      }
    },
  );
});
