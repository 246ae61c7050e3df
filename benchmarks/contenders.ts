import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, newEvent } from '@hansard/events';
import { sampleEnvelope, taskDir, text } from './sample-events.ts';
import { openStore, type StoreName, storeNames } from './stores.ts';

/** One dispatch of one contender. */
export interface Log {
  /** Adds events in the cheapest way there is; not measured. */
  fill(events: readonly CapturedEvent[]): unknown;
  /** Adds events one by one, each safe from the death of the process before the next one. */
  append(events: readonly CapturedEvent[], lines: readonly string[]): unknown;
}

export interface Contender {
  readonly name: string;
  readonly through: 'system' | 'driver' | 'provider' | 'facade';
  openLog(dispatchId: string): Promise<Log> | Log;
  close(): Promise<void> | void;
}

const toLine = (event: CapturedEvent): string => `${JSON.stringify(event)}\n`;

/** One `write` of a prepared line to an open file: the minimum cost of a durable append. */
function readyLine(folder: string): Contender {
  return fileContender('write of a ready line', folder, (file, _, lines) => {
    for (const line of lines) writeSync(file, line);
  });
}

/** The same with the making of the line, which no store can do without. */
function encodedLine(folder: string): Contender {
  return fileContender('encode and write', folder, (file, events) => {
    for (const event of events) writeSync(file, toLine(event));
  });
}

function fileContender(
  name: string,
  folder: string,
  append: (file: number, events: readonly CapturedEvent[], lines: readonly string[]) => void,
): Contender {
  const files: number[] = [];
  return {
    name,
    through: 'system',
    openLog: (dispatchId) => {
      const file = openSync(join(folder, `${name.replaceAll(' ', '-')}-${dispatchId}.jsonl`), 'a');
      files.push(file);
      return {
        fill: (events) => writeSync(file, events.map(toLine).join('')),
        append: (events, lines) => append(file, events, lines),
      };
    },
    close: () => {
      for (const file of files) closeSync(file);
    },
  };
}

/** What stores of one JSON document usually do: read it, change it, write it. */
function wholeFile(folder: string): Contender {
  return {
    name: 'rewrite of the whole file',
    through: 'system',
    openLog: (dispatchId) => {
      const path = join(folder, `whole-${dispatchId}.json`);
      const add = (events: readonly CapturedEvent[]): void => {
        const document = JSON.parse(readFileSync(path, 'utf8')) as { events: CapturedEvent[] };
        document.events.push(...events);
        writeFileSync(path, JSON.stringify(document));
      };
      writeFileSync(path, JSON.stringify({ ...sampleEnvelope(dispatchId), events: [] }));
      return {
        fill: add,
        append: (events) => {
          for (const event of events) add([event]);
        },
      };
    },
    close: () => {},
  };
}

/** A prepared insert of a ready line in the driver and the table shape of store-sqlite, a transaction each. */
function rawInsert(folder: string): Contender {
  const database = new DatabaseSync(join(folder, 'raw.sqlite'));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE events (
      dispatch INTEGER NOT NULL, position INTEGER NOT NULL, line TEXT NOT NULL,
      PRIMARY KEY (dispatch, position)
    ) STRICT, WITHOUT ROWID;
  `);
  const insert = database.prepare('INSERT INTO events (dispatch, position, line) VALUES (?, ?, ?)');
  let dispatches = 0;
  return {
    name: 'raw insert',
    through: 'driver',
    openLog: () => {
      dispatches += 1;
      const dispatch = dispatches;
      let position = 0;
      return {
        fill: (events) => {
          database.exec('BEGIN');
          for (const event of events) insert.run(dispatch, position++, JSON.stringify(event));
          database.exec('COMMIT');
        },
        append: (_, lines) => {
          for (const line of lines) insert.run(dispatch, position++, line);
        },
      };
    },
    close: () => database.close(),
  };
}

export async function throughProvider(name: StoreName, folder: string): Promise<Contender> {
  const store = await openStore(name, join(folder, `${name}-provider`));
  return {
    name,
    through: 'provider',
    openLog: (dispatchId) => {
      store.createDispatch(taskDir, sampleEnvelope(dispatchId));
      return {
        fill: (events) => store.appendEvents(taskDir, dispatchId, events),
        append: (events) => {
          for (const event of events) store.appendEvent(taskDir, dispatchId, event);
        },
      };
    },
    close: () => store.close(),
  };
}

const utterance = newEvent('agent:text', { text });

export async function throughFacade(name: StoreName, folder: string): Promise<Contender> {
  const store = openDispatchStore(await openStore(name, join(folder, `${name}-facade`)));
  return {
    name,
    through: 'facade',
    openLog: async (dispatchId) => {
      const { dispatchId: _, schemaVersion: __, taskSlug: ___, ...envelope } = sampleEnvelope(dispatchId);
      const dispatch = await store.beginDispatch(taskDir, { ...envelope, dispatchId });
      return {
        fill: (events) => dispatch.append(events.map(() => utterance)),
        append: async (events) => {
          for (const _ of events) await dispatch.append(utterance);
        },
      };
    },
    close: () => store.close(),
  };
}

export async function openContenders(folder: string): Promise<Contender[]> {
  const contenders = [readyLine(folder), encodedLine(folder), wholeFile(folder), rawInsert(folder)];
  for (const name of storeNames) {
    contenders.push(await throughProvider(name, folder), await throughFacade(name, folder));
  }
  return contenders;
}
