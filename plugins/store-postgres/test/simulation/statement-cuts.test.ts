import { useServer } from '@hansard/testing/postgres-in-tests';
import type { ContractCall } from '@hansard/testing/simulation';
import { Client, type QueryConfig } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setupSql } from '../../src/database/schema.ts';
import { type Fault, faults, type Machine, type Outcome, SimulatedProcess } from './simulated-process.ts';

const server = useServer();
const schema = 'cuts';
const leaseMs = 1_500;
const tables = ['tasks', 'openings', 'dispatches', 'events', 'event_words', 'accepted_losses'];
let monitor: Client;

beforeAll(async () => {
  monitor = new Client(server().url());
  await monitor.connect();
  await monitor.query(setupSql({ schema }));
  const process = new SimulatedProcess(0, new CutMachine());
  for (const call of [...begin, release])
    expect((await process.perform(call)).kind, call.kind).toBe('returned');
  await process.perform({ kind: 'close' });
  await monitor.query(tables.map((table) => `CREATE TABLE kept_${table} AS TABLE cuts.${table}`).join(';'));
});

afterAll(() => monitor.end());

/** A machine on which one statement of a call is cut. */
class CutMachine implements Machine {
  readonly url = server().url();
  readonly schema = schema;
  readonly leaseMs = leaseMs;
  now = 1_000;
  readonly statements: string[] = [];
  cutAt = 0;
  fault: Fault | null = null;
  hasCrashed = (): void => {};

  time = () => this.now;
  heard = () => undefined;
  busy = () => undefined;

  async waitForTurn(_: SimulatedProcess, { text }: QueryConfig): Promise<Fault | null> {
    this.statements.push(text);
    return this.statements.length === this.cutAt ? this.fault : null;
  }

  async ended(backends: readonly number[]): Promise<void> {
    const text = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY($1)';
    while ((await monitor.query(text, [backends])).rows.length > 0);
    if (this.fault?.startsWith('crash')) this.hasCrashed();
  }
}

const ids = ['p0-1', 'p0-2', 'p0-3', 'p0-4'];
const begin: readonly ContractCall[] = [
  { kind: 'create', dispatch: 0, mark: 'p0-0' },
  { kind: 'append', dispatch: 0, ids, isSensible: false },
  { kind: 'put task', task: 0, mark: 'p0-5', isNewer: false },
];
const claim: ContractCall = { kind: 'claim', dispatch: 0 };
const release: ContractCall = { kind: 'release', dispatch: 0 };

/** Each call, with the calls before it on a dispatch of four events that nobody has claimed. */
const calls: readonly (readonly [call: ContractCall, before: readonly ContractCall[]])[] = [
  [{ kind: 'create', dispatch: 1, mark: 'p0-6' }, []],
  [claim, []],
  [release, [claim]],
  [{ kind: 'append', dispatch: 0, ids: ['p0-7'], isSensible: false }, [claim]],
  [{ kind: 'append', dispatch: 0, ids: ['p0-7', 'p0-8', 'p0-9'], isSensible: false }, [claim]],
  [{ kind: 'append', dispatch: 0, ids: ['p0-4', 'p0-9'], isSensible: false }, [claim]],
  [{ kind: 'update', dispatch: 0, field: 'model', value: 'p0-10' }, [claim]],
  [{ kind: 'end', dispatch: 0 }, [claim]],
  [{ kind: 'rewrite', dispatch: 0, what: 'secret', ids: ['p0-11'] }, []],
  [{ kind: 'accept loss', dispatch: 0, ids: ['p0-12'] }, []],
  [{ kind: 'break claim', dispatch: 0 }, [claim]],
  [{ kind: 'delete', dispatch: 0 }, []],
  [{ kind: 'put task', task: 0, mark: 'p0-13', isNewer: false }, []],
  [{ kind: 'search', word: 'secret', scope: 'store' }, []],
  [{ kind: 'send letter', dispatch: 0, id: 'letter_p0-14' }, []],
];

/** Everything that a store promises to keep, read with SQL that shares nothing with it. */
async function contentOf(): Promise<string> {
  const content: string[] = [];
  for (const sql of [
    'SELECT task_dir, dispatch_id, envelope FROM cuts.dispatches ORDER BY 1, 2',
    `SELECT d.dispatch_id, e.position, e.line::json ->> 'id' AS id, e.line::json -> 'data' ->> 'text' AS text
     FROM cuts.events e JOIN cuts.dispatches d ON d.number = e.dispatch ORDER BY 1, 2`,
    'SELECT task_dir, record FROM cuts.tasks ORDER BY 1',
  ])
    content.push(JSON.stringify((await monitor.query(sql)).rows));
  return content.join('\n');
}

/** Makes a call again after a lease, if a process that has crashed still has the claim. */
async function insist(machine: CutMachine, process: SimulatedProcess, call: ContractCall): Promise<Outcome> {
  const outcome = await process.perform(call);
  if (outcome.kind !== 'failed' || outcome.code !== 'STORE_LOCKED') return outcome;
  machine.now += leaseMs;
  return process.perform(call);
}

/** The same errors as those of a call that had its whole effect before. */
const repeated = ['STORE_DISPATCH_EXISTS', 'STORE_DISPATCH_NOT_FOUND'];

/** Cuts one statement of a call, then makes the call again. */
async function cut([call, before]: (typeof calls)[number], at: number, fault: Fault | null) {
  const restored = (table: string) =>
    `DELETE FROM cuts.${table}; INSERT INTO cuts.${table} OVERRIDING SYSTEM VALUE TABLE kept_${table}`;
  await monitor.query(tables.map(restored).join(';'));
  const machine = new CutMachine();
  const process = new SimulatedProcess(0, machine);
  for (const one of before) expect((await process.perform(one)).kind, one.kind).toBe('returned');
  const first = await contentOf();
  Object.assign(machine, { cutAt: at, fault });
  machine.statements.length = 0;
  const crash = new Promise<Outcome>((resolve) => {
    machine.hasCrashed = () => resolve({ kind: 'crashed' });
  });
  const outcome = await Promise.race([process.perform(call), crash]);
  const statements = machine.statements.length;
  const cutContent = await contentOf();
  Object.assign(machine, { cutAt: 0, fault: null });
  if (outcome.kind === 'crashed') for (const one of before) await insist(machine, process, one);
  // A rewrite is not made again if it had its effect.
  const isDone = call.kind === 'rewrite' && cutContent !== first;
  const again = isDone ? outcome : await insist(machine, process, call);
  const last = await contentOf();
  await process.crash();
  return { outcome, again, statements, first, cutContent, last };
}

let cuts = 0;

describe.each(calls)('%j, cut before and after each statement, with each reply lost once', (...row) => {
  it('has its whole effect or none, and can be made again', { timeout: 120_000 }, async () => {
    const whole = await cut(row, 0, null);
    expect(whole.outcome.kind).toBe('returned');
    const [call] = row;
    for (const fault of faults)
      for (let at = 1; at <= whole.statements; at += 1) {
        // Before a statement is after the one before it.
        if (fault === 'crash before' && at > 1) continue;
        cuts += 1;
        const { outcome, again, first, cutContent, last } = await cut(row, at, fault);
        const place = `${call.kind}, ${fault} at statement ${at}: ${JSON.stringify(outcome)}`;
        expect([whole.cutContent, first], place).toContain(cutContent);
        if (outcome.kind === 'returned') expect(cutContent, place).toBe(whole.cutContent);
        if (call.kind === 'accept loss' || outcome.kind === 'returned') continue;
        if (again.kind === 'failed' && call.kind !== 'rewrite') expect(repeated, place).toContain(again.code);
        expect(last, place).toBe(whole.cutContent);
      }
  });
});

it('more than 250 cuts were made', () => {
  expect(cuts).toBeGreaterThan(250);
});
