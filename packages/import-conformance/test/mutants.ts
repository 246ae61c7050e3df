import { appendFileSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CapturedEvent, isPlainObject, type JsonObject } from '@hansard/events';
import type { LogImporterProvider, LogSummary, OpenLog } from '@hansard/provider';
import { notesImporter, parse, parts, ulidOf } from './example-importer.ts';

/** An importer that breaks one law, and the case that names the fault. */
export interface Mutant {
  readonly breaks: string;
  readonly caughtBy: string;
  readonly importer: LogImporterProvider;
}

const recordOf = (text: string): JsonObject => {
  const value = parse(text);
  return isPlainObject(value) ? (value as JsonObject) : {};
};

const mutant = (breaks: string, caughtBy: string, changed: Parameters<typeof notesImporter>[0]): Mutant => ({
  breaks,
  caughtBy,
  importer: notesImporter(changed),
});

const pathsIn = (text: string): string[] =>
  Object.values(recordOf(text)).filter(
    (value): value is string => typeof value === 'string' && value.includes('/'),
  );

/** Written from the laws, before the cases. */
export const mutantsOfLaws: readonly Mutant[] = [
  mutant('records of an unknown kind vanish, and are counted as recorded', 'complete/unknown-kinds', {
    eventsOf: (line, seen, path) => {
      const [event, ...more] = parts.eventsOf(line, seen, path);
      const isKnown = ['said', 'call', 'result'].includes(String(recordOf(line.text).kind));
      const empty = { id: event?.id ?? 'x', type: 'notes:other', timestamp: null, data: {} } as CapturedEvent;
      return event === undefined || isKnown ? [event ?? empty, ...more] : [empty];
    },
  }),
  mutant('fields that it does not know vanish', 'complete/unknown-fields', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) => ({ ...event, data: { ...event.data, rest: {} } })),
  }),
  mutant('damaged lines vanish, and are counted as recorded', 'complete/damaged-lines', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(parse(line.text) === undefined ? { ...line, text: '{}' } : line, seen, path),
  }),
  mutant('a long text is cut without a word', 'complete/every-text', {
    eventsOf: (line, seen, path) =>
      parts
        .eventsOf(line, seen, path)
        .map((event) =>
          typeof event.data.text === 'string'
            ? ({ ...event, data: { ...event.data, text: event.data.text.slice(0, 40) } } as CapturedEvent)
            : event,
        ),
  }),
  mutant('the last record of a source is dropped', 'complete/every-text', {
    linesOf: (path) => parts.linesOf(path).slice(0, -1),
  }),
  mutant('the balance forgets what is left out', 'complete/balance', {
    finish: ({ sheet }) => sheet.take('records', 1),
  }),
  mutant('the balance invents bytes', 'complete/balance', {
    finish: ({ sheet }) => {
      sheet.take('bytes', 1);
      sheet.record('bytes', 1);
    },
  }),
  mutant('ids count lines from the end', 'grown/every-cut', {
    linesOf: (path) => {
      const lines = parts.linesOf(path);
      return lines.map((line, at) => ({ ...line, number: lines.length - at }));
    },
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) => ({ ...event, id: `n${line.number}` })),
  }),
  mutant('an unfinished record is kept as damaged', 'grown/every-cut', {
    linesOf: (path) => parts.linesOf(path).map((line) => ({ ...line, isUnfinished: false })),
  }),
  mutant('the number of records is in every event', 'grown/every-cut', {
    finish: ({ events }) => {
      for (const [at, event] of events.entries())
        events[at] = { ...event, data: { ...event.data, of: events.length } } as CapturedEvent;
    },
  }),
  mutant('the session is named by its last record', 'grown/every-cut', {
    linesOf: parts.linesOf,
    identify: (_, path) => `${path}${Math.floor(Math.random() * 3)}`,
  }),
  mutant('a record without a text field throws', 'hostile/one-field', {
    eventsOf: (line, seen, path) => {
      if (typeof recordOf(line.text).text !== 'string' && 'kind' in recordOf(line.text))
        throw new TypeError('no text');
      return parts.eventsOf(line, seen, path);
    },
  }),
  mutant('a record with two strange fields throws', 'hostile/two-fields', {
    eventsOf: (line, seen, path) => {
      const record = recordOf(line.text);
      if (
        ['text', 'by', 'kind', 'at'].filter((key) => key in record && typeof record[key] !== 'string')
          .length > 1
      )
        throw new TypeError('strange');
      return parts.eventsOf(line, seen, path);
    },
  }),
  mutant('reading ends at a damaged line', 'complete/damaged-lines', {
    linesOf: (path) => {
      const lines = parts.linesOf(path);
      const at = lines.findIndex(
        ({ text, isUnfinished }) => text !== '' && !isUnfinished && parse(text) === undefined,
      );
      return at < 0 ? lines : lines.slice(0, at);
    },
  }),
  mutant('anything with JSON lines is taken', 'detection/other-formats', { detect: () => true }),
  mutant('a file is only known by its first kind of record', 'detection/own-records', {
    detect: (records) => recordOf(JSON.stringify(records[0] ?? {})).kind === 'said',
  }),
  mutant('a marker is written into the source', 'source/not-written', {
    finish: (_, { files: [path = ''] }) => appendFileSync(path, '\n'),
  }),
  mutant('the time of the source is touched', 'source/not-written', {
    finish: (_, { files: [path = ''] }) => utimesSync(path, 1, 1),
  }),
  mutant('a cache is left beside the source', 'source/not-written', {
    finish: (_, { files: [path = ''] }) => writeFileSync(join(dirname(path), 'cache.json'), '{}'),
  }),
  mutant('paths in records are read', 'source/not-outside', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) => {
        const read = pathsIn(line.text).map((name) => {
          try {
            return readFileSync(name.replace('file://', ''), 'utf8');
          } catch {
            return '';
          }
        });
        return { ...event, data: { ...event.data, read } } as CapturedEvent;
      }),
  }),
  mutant('relative paths in records are read', 'source/not-outside', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) => {
        const read = pathsIn(line.text)
          .filter((name) => name.startsWith('..'))
          .map((name) => {
            try {
              return readFileSync(join(dirname(path), name), 'utf8');
            } catch {
              return '';
            }
          });
        return { ...event, data: { ...event.data, read } } as CapturedEvent;
      }),
  }),
  mutant('a missing time is the time of the file', 'identity/not-from-place', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) => ({
        ...event,
        timestamp: event.timestamp ?? statSync(path).mtime.toISOString(),
      })),
  }),
  mutant('a missing time is now', 'identity/not-from-place', {
    eventsOf: (line, seen, path) =>
      parts
        .eventsOf(line, seen, path)
        .map((event) => ({ ...event, timestamp: event.timestamp ?? new Date().toISOString() })),
  }),
  mutant('the session is named by its path', 'identity/not-from-place', {
    identify: parts.identify,
    eventsOf: (line, seen, path) =>
      parts
        .eventsOf(line, seen, path)
        .map((event) => ({ ...event, data: { ...event.data, path } }) as CapturedEvent),
  }),
];

/** An importer whose logs are changed. */
const changedLogs = (change: (log: OpenLog, opened: number) => Partial<OpenLog>): LogImporterProvider => {
  const importer = notesImporter();
  let opened = 0;
  return {
    ...importer,
    async open(...args) {
      opened += 1;
      const logs = await importer.open(...args);
      return logs.map((log) => ({
        ...log,
        read: (options) => log.read(options),
        summary: () => log.summary(),
        ...change(log, opened),
      }));
    },
  };
};

/** Written after the cases. */
export const mutantsOfCases: readonly Mutant[] = [
  {
    breaks: 'a session has another id in each import',
    caughtBy: 'deleted/stays-deleted',
    importer: changedLogs((_, opened) => ({ dispatchId: ulidOf(`${opened}`) })),
  },
  {
    breaks: 'files beside the source are counted',
    caughtBy: 'complete/unknown-files',
    importer: changedLogs((log) => ({
      summary: () => ({
        ...log.summary(),
        structuredResult: readdirSync(dirname(log.files[0] ?? '')).length,
      }),
    })),
  },
  {
    breaks: 'a second reading begins where the killed one ended',
    caughtBy: 'grown/killed',
    importer: (() => {
      let read = 0;
      return changedLogs((log) => ({
        async *read(options) {
          const from = read;
          for await (const batch of log.read(options))
            for (const [at, event] of batch.entries()) {
              if (at < from + 1 && from > 0) continue;
              read = at;
              yield [event];
            }
          read = 0;
        },
      }));
    })(),
  },
  {
    breaks: 'the start of the session is that of its file',
    caughtBy: 'identity/not-from-place',
    importer: changedLogs((log) => ({ startedAt: Math.floor(statSync(log.files[0] ?? '').mtimeMs) })),
  },
  {
    breaks: 'the balance is not given',
    caughtBy: 'complete/balance',
    importer: changedLogs((log) => ({
      summary: () => {
        const { balance: _, ...summary } = log.summary();
        return summary as LogSummary;
      },
    })),
  },
  mutant('two events have one id', 'identity/ids-are-unique', {
    eventsOf: (line, _, path) => parts.eventsOf(line, new Map(), path),
  }),
  mutant('a repeated record is counted as recorded, and is lost', 'identity/ids-are-unique', {
    eventsOf: (line, seen, path) => {
      const events = parts.eventsOf(line, seen, path);
      return seen.size > 0 && events[0]?.id.startsWith('line-')
        ? [{ ...events[0], data: {} } as CapturedEvent]
        : events;
    },
  }),
  mutant('blank lines count as records', 'complete/balance', {
    linesOf: (path) => parts.linesOf(path).map((line) => (line.text === '' ? { ...line, text: '{}' } : line)),
  }),
  mutant('a source is only recognised as a whole', 'detection/own-records', {
    detect: (records) => records.length > 7,
  }),
  mutant('nested values vanish', 'complete/every-text', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) => {
        const rest = Object.entries((event.data.rest ?? {}) as JsonObject).filter(
          ([, value]) => typeof value !== 'object',
        );
        return { ...event, data: { ...event.data, rest: Object.fromEntries(rest) } } as CapturedEvent;
      }),
  }),
  mutant('fields that it does not know vanish below the first level', 'complete/unknown-fields-within', {
    eventsOf: (line, seen, path) =>
      parts.eventsOf(line, seen, path).map((event) =>
        JSON.parse(
          JSON.stringify(event, function (this: unknown, key: string, value: unknown) {
            const isTop = (this as JsonObject).about !== undefined || (this as JsonObject).note !== undefined;
            return key.startsWith('kit_') && !isTop ? undefined : value;
          }),
        ),
      ),
  }),
  mutant('a part of a kind that it does not know vanishes', 'complete/unknown-kinds-within', {
    eventsOf: (line, seen, path) =>
      parts
        .eventsOf(line, seen, path)
        .map((event) =>
          JSON.parse(
            JSON.stringify(event, (_, value: unknown) =>
              isPlainObject(value) && !['here', 'there', undefined].includes(value.kind as string)
                ? {}
                : value,
            ),
          ),
        ),
  }),
  mutant('a part of a kind that it does not know throws', 'complete/unknown-kinds-within', {
    eventsOf: (line, seen, path) => {
      const { about } = recordOf(line.text);
      if (isPlainObject(about) && !['here', 'there'].includes(String(about.kind)))
        throw new TypeError('kind');
      return parts.eventsOf(line, seen, path);
    },
  }),
  mutant('strange values in two records end the file', 'hostile/two-fields', {
    linesOf: (path) => {
      const lines = parts.linesOf(path);
      const strange = lines.filter(({ text }) =>
        ['text', 'by', 'kind', 'at'].some(
          (key) => key in recordOf(text) && typeof recordOf(text)[key] !== 'string',
        ),
      );
      return strange.length > 1 ? lines.slice(0, 1) : lines;
    },
  }),
  mutant('a file beside the source becomes an event', 'complete/unknown-files', {
    finish: ({ events }, { files: [path = ''] }) => {
      const [first] = events;
      if (first !== undefined && readdirSync(dirname(path)).length > 1)
        events.push({ ...first, id: 'beside' } as CapturedEvent);
    },
  }),
  mutant('lists vanish', 'complete/every-text', {
    eventsOf: (line, seen, path) =>
      parts
        .eventsOf(line, seen, path)
        .map((event) =>
          JSON.parse(JSON.stringify(event, (_, value: unknown) => (Array.isArray(value) ? [] : value))),
        ),
  }),
  mutant('a record with a number as its writer ends the file', 'hostile/one-field', {
    linesOf: (path) => {
      const lines = parts.linesOf(path);
      const at = lines.findIndex(({ text }) => typeof recordOf(text).by === 'number');
      return at < 0 ? lines : lines.slice(0, at + 1);
    },
  }),
];
