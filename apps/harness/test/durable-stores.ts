import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { type Answer, type CommandLine, commandLine } from './command-line.ts';

/** The files below the folder of a store whose names end with this, as text. */
function textsOf(cwd: string, end: string): string[] {
  return globSync(`.projects/**/*${end}`, { cwd }).map((file) => readFileSync(join(cwd, file), 'utf8'));
}

/** The stores whose logs survive the process, as the command opens them in its folder. */
export const durableStores = [
  {
    name: 'JSON-file',
    config: '{}',
    /** Whether it has `removeRemains`. */
    cleans: true,
    open: (cwd: string, options: { readonly leaseMs?: number } = {}) =>
      openJsonFileStore({ root: join(cwd, '.projects'), ...options }),
    /** Replaces text in the stored event of a dispatch that contains it. */
    replaceInEvent(cwd: string, { dispatchId, from, to }: Replacement): void {
      const [file = ''] = globSync(`.projects/**/${dispatchId}.json`, { cwd });
      const stored = readFileSync(join(cwd, file), 'utf8');
      if (!stored.includes(from)) throw new Error(`${file} does not contain ${from}.`);
      writeFileSync(join(cwd, file), stored.replace(from, to));
    },
    /** What is kept of damaged dispatches, as text. */
    keptAsDamaged: (cwd: string) => textsOf(cwd, '.damaged*').join('\n'),
    /** Everything that decides what a read returns, as text. */
    contentOf: (cwd: string) => textsOf(cwd, '.json').join('\n'),
  },
  {
    name: 'SQLite',
    config: '{ "store": "@hansard/store-sqlite" }',
    cleans: true,
    open: (cwd: string, options: { readonly leaseMs?: number } = {}) =>
      openSqliteStore({ path: databaseOf(cwd), ...options }),
    replaceInEvent(cwd: string, { dispatchId, from, to }: Replacement): void {
      using database = openDatabase(cwd);
      const { changes } = database
        .prepare(
          `UPDATE events SET line = replace(line, ?, ?) WHERE instr(line, ?) > 0
           AND dispatch = (SELECT number FROM dispatches WHERE dispatch_id = ?)`,
        )
        .run(from, to, from, dispatchId);
      if (Number(changes) !== 1) throw new Error(`${changes} events of ${dispatchId} contain ${from}.`);
    },
    keptAsDamaged(cwd: string): string {
      using database = openDatabase(cwd);
      const rows = database.prepare(
        'SELECT line FROM events WHERE dispatch IN (SELECT number FROM accepted_losses) ORDER BY dispatch, position',
      );
      return rows
        .all()
        .map(({ line }) => line)
        .join('\n');
    },
    contentOf(cwd: string): string {
      using database = openDatabase(cwd);
      const all = (table: string) => JSON.stringify(database.prepare(`SELECT * FROM ${table}`).all());
      return ['tasks', 'dispatches', 'events', 'accepted_losses'].map(all).join('\n');
    },
  },
] as const;

export type DurableStore = (typeof durableStores)[number];

interface Replacement {
  readonly dispatchId: string;
  readonly from: string;
  readonly to: string;
}

function databaseOf(cwd: string): string {
  return join(cwd, '.projects', 'hansard.sqlite');
}

function openDatabase(cwd: string): DatabaseSync {
  return new DatabaseSync(databaseOf(cwd));
}

/** The tasks a/one, with the dispatches D1FIRST and D2SECOND, and b/two, with D3OTHER. Each has the same three events. */
export async function recordedIn({ config, open }: DurableStore): Promise<CommandLine> {
  const line = commandLine();
  writeFileSync(join(line.cwd, 'hansard.config.json'), config);
  await using store = openDispatchStore(open(line.cwd));
  for (const [taskDir, dispatchId] of [
    ['a/tasks/one', 'D1FIRST'],
    ['a/tasks/one', 'D2SECOND'],
    ['b/tasks/two', 'D3OTHER'],
  ] as const) {
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    await dispatch.append(
      ['one', 'two', 'three'].map((text) => newEvent('agent:text', { text: `item ${text}` })),
    );
    await dispatch.end({ status: 'completed' });
  }
  return line;
}

/** Runs the command at a terminal where somebody types a line. */
export function typed(line: CommandLine, args: readonly string[], text: string): Promise<Answer> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(`${text}\n`);
  return line.start(args, { signal: new AbortController().signal, stdin });
}
