import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ProcessOwner } from '@hansard/store-kit';
import type { ContractCall } from '@hansard/testing/simulation';
import { afterAll, describe, expect, it } from 'vitest';
import { type Fault, faults } from './schedule.ts';
import { type Machine, type Outcome, SimulatedProcess } from './simulated-process.ts';

/** A machine with one process, on which one statement of a call is cut. */
class CutMachine implements Machine {
  readonly path: string;
  readonly leaseMs = 1_500;
  readonly planted = undefined;
  readonly contractFault = undefined;
  steps = 0;
  cutAt = 0;
  fault: Fault | null = null;

  constructor(path: string) {
    this.path = path;
  }

  time = () => 1_000;
  wallClock = () => Date.UTC(2026, 0, 1);
  isRunning = () => false;
  heard = () => undefined;
  readCopy = () => ({ kind: 'nothing' }) as const;

  waitForTurn(): Fault | null {
    this.steps += 1;
    return this.steps === this.cutAt ? this.fault : null;
  }
}

/** In memory where that can be had: the kills of other tests are on a disk. */
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hansard-cuts-'));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function nextPath(): string {
  files += 1;
  return join(folder, `${files}.sqlite`);
}

const owner = (life: number): ProcessOwner => ({
  pid: 1,
  host: 'one',
  startTime: `${life}`,
  bootId: 'boot',
  pidNamespace: 'first',
});

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
  [{ kind: 'send letter', dispatch: 0, id: 'letter_p0-14' }, []],
];

/** Everything that a store promises to keep, read with SQL that shares nothing with it. */
function contentOf(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  const read = (sql: string) => JSON.stringify(database.prepare(sql).all());
  const content = [
    'SELECT task_dir, dispatch_id, envelope FROM dispatches ORDER BY 1, 2',
    `SELECT d.dispatch_id, e.position, json_extract(e.line, '$.id') AS id, json_extract(e.line, '$.data.text') AS text
     FROM events e JOIN dispatches d ON d.number = e.dispatch ORDER BY 1, 2`,
    'SELECT task_dir, task FROM tasks WHERE task IS NOT NULL ORDER BY 1',
  ].map(read);
  database.close();
  return content.join('\n');
}

function performed(process: SimulatedProcess, call: ContractCall): Outcome {
  const outcome = process.perform(call);
  if (outcome.kind !== 'returned') throw new Error(`${call.kind}: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** The database with its dispatch, which nobody has claimed. */
function makeTemplate(): string {
  const path = nextPath();
  const process = new SimulatedProcess(0, owner(0), new CutMachine(path));
  for (const call of [...begin, release]) performed(process, call);
  process.perform({ kind: 'close' });
  return path;
}

/** The same errors as those of a call that had its whole effect before. */
const repeated = ['STORE_DISPATCH_EXISTS', 'STORE_DISPATCH_NOT_FOUND'];

/** Cuts one statement of a call, then makes the call again. @returns whether the cut was reached */
function cut(template: string, [call, before]: (typeof calls)[number], at: number, fault: Fault | null) {
  const path = nextPath();
  for (const suffix of ['', '-lengths']) copyFileSync(`${template}${suffix}`, `${path}${suffix}`);
  const machine = new CutMachine(path);
  const process = new SimulatedProcess(0, owner(1), machine);
  for (const one of before) performed(process, one);
  const first = contentOf(path);
  Object.assign(machine, { steps: 0, cutAt: at, fault });
  const outcome = process.perform(call);
  const { steps } = machine;
  const cutContent = contentOf(path);
  machine.cutAt = 0;
  if (outcome.kind === 'crashed') {
    process.restart(owner(2));
    for (const one of before) process.perform(one);
  }
  // A rewrite is not made again if it had its effect.
  const isDone = call.kind === 'rewrite' && cutContent !== first;
  const again = isDone ? outcome : process.perform(call);
  const last = contentOf(path);
  process.restart(owner(3));
  for (const suffix of ['', '-wal', '-shm', '-lengths']) rmSync(`${path}${suffix}`, { force: true });
  return { outcome, again, steps, first, cutContent, last };
}

let cuts = 0;
const template = makeTemplate();

describe.each(calls)('%j, cut before and after each statement', (...row) => {
  it('has its whole effect or none, and can be made again', () => {
    const whole = cut(template, row, 0, null);
    expect(whole.outcome.kind).toBe('returned');
    const [call] = row;
    for (const fault of faults)
      for (let at = 1; at <= whole.steps; at += 1) {
        cuts += 1;
        const { outcome, again, first, cutContent, last } = cut(template, row, at, fault);
        const place = `${call.kind}, ${fault} at statement ${at}`;
        expect([whole.cutContent, first], place).toContain(cutContent);
        if (outcome.kind === 'returned') expect(cutContent, place).toBe(whole.cutContent);
        if (call.kind === 'accept loss' || outcome.kind === 'returned') continue;
        if (again.kind === 'failed' && call.kind !== 'rewrite') expect(repeated, place).toContain(again.code);
        expect(last, place).toBe(whole.cutContent);
      }
  });
});

it('more than 500 cuts were made', () => {
  expect(cuts).toBeGreaterThan(500);
});
