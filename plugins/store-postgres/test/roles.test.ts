import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import type { TestServer } from '@hansard/testing/postgres';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { setupSql } from '../src/index.ts';
import { codeOf, newStores, type Stores, superuser } from './server/stores.ts';

const server = useServer();
const ended = '01JQ00000000000000000000EN';
const task = {
  slug: 'one',
  name: 'One',
  project: 'lab',
  status: 'open',
  created: '2026-03-01T09:00:00.000Z',
};

/** The tables of a store, with a role of each kind. */
async function withRoles() {
  const stores = newStores(server());
  const role = (kind: string) => `${kind}_of_${stores.schema}`;
  for (const kind of ['owner', 'writer', 'reader'])
    await superuser(server(), `CREATE ROLE ${role(kind)} LOGIN`);
  const roles = { owner: role('owner'), writer: role('writer'), reader: role('reader') };
  await superuser(server(), setupSql({ schema: stores.schema, ...roles }));
  const open = (kind: keyof typeof roles) =>
    stores.open({ url: server().url(roles[kind]), createTables: false });
  return { stores, roles, open };
}

it('a writer records everything, a reader reads and searches, and the owner deletes and redacts', async () => {
  const { open } = await withRoles();
  const writer = await open('writer');
  await writer.createDispatch(taskDir, envelope());
  await writer.appendEvents(taskDir, dispatchId, growingEvents(3));
  await writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
  await writer.putTask(taskDir, task);
  await writer.putTask(taskDir, { ...task, name: 'Two' });
  await writer.releaseDispatch(taskDir, dispatchId);
  await writer.claimDispatch(taskDir, dispatchId);

  // Before any search of a writer nothing is in the index, and afterwards only what was there.
  const reader = await open('reader');
  expect(await reader.searchEvents('e000001', { taskDir })).toHaveLength(1);
  expect(await writer.searchEvents('e000001', { taskDir })).toHaveLength(1);
  await writer.appendEvents(taskDir, dispatchId, growingEvents(600).slice(3));
  expect(await reader.searchEvents('e000001', { taskDir })).toHaveLength(1);
  const found = await reader.searchEvents('text', { limit: 1_000 });
  expect(found.map(({ position }) => position)).toEqual(Array.from({ length: 600 }, (_, index) => index));
  expect(await reader.searchEvents('text', { limit: 5 })).toEqual(found.slice(-5));
  expect(await writer.searchEvents('text', { limit: 1_000 })).toEqual(found);

  expect(await reader.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(600));
  expect(await codeOf(reader.claimDispatch(taskDir, dispatchId))).toBe('STORE_UNAVAILABLE');
  expect(await codeOf(reader.putTask(taskDir, task))).toBe('STORE_UNAVAILABLE');

  const rewrite = { envelope: <T>(one: T) => one, event: <T>(one: T) => one };
  for (const refused of [
    () => writer.rewriteDispatch(taskDir, dispatchId, rewrite),
    () => writer.deleteDispatch(taskDir, dispatchId),
  ]) {
    const error: unknown = await refused().catch((reason: unknown) => reason);
    expect(storeErrors.is(error) && error.message).toMatch(/redacting.* take the role that owns the tables/);
  }
  await writer.close();
  const owner = await open('owner');
  await owner.rewriteDispatch(taskDir, dispatchId, rewrite);
  expect(await reader.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(600));
  await owner.deleteDispatch(taskDir, dispatchId);
  expect(await reader.getDispatchEnvelope(taskDir, dispatchId)).toBeNull();
});

it('a writer stores every text and depth that a store may have', async () => {
  const { open } = await withRoles();
  const writer = await open('writer');
  await writer.createDispatch(taskDir, envelope({ title: 'NUL \0, half \ud800, ❄ and \\u0000' }));
  let deep: unknown = 1;
  for (let depth = 0; depth < 990; depth += 1) deep = depth % 2 === 0 ? [deep] : { deep };
  const values = [
    '\0',
    '\ud83d',
    '\udc00x',
    '\\u0000',
    '\\\\ud800',
    '{"[',
    '😀',
    1e308,
    -0.5e-300,
    { '': null },
    deep,
  ];
  const given = values.map((value, index) => ({
    ...(growingEvents(1)[0] as ReturnType<typeof growingEvents>[number]),
    id: `value-${index}`,
    data: { value: value as string, long: '[{"'.repeat(900) },
  }));
  await writer.appendEvents(taskDir, dispatchId, given);
  expect(await writer.getDispatchEvents(taskDir, dispatchId)).toEqual(given);
  await writer.updateDispatch(taskDir, dispatchId, { title: null, structuredResult: { deep: '\ud800\0' } });
});

it('computes the checksum of a server before PostgreSQL 18 as the function of 18 does', async () => {
  const { stores } = await withRoles();
  const text = setupSql({ schema: 'other_schema', writer: 'nobody' });
  const [, loop] = /LANGUAGE plpgsql IMMUTABLE AS \$crc\$([\s\S]*?)\$crc\$/.exec(text) ?? [];
  await stores.sql(
    `CREATE FUNCTION S.looped(bytes bytea) RETURNS integer LANGUAGE plpgsql AS $crc$${loop}$crc$`,
  );
  const { rows } = await stores.sql(
    "SELECT count(*)::int AS number FROM generate_series(0, 300) n, LATERAL (SELECT convert_to(repeat('aß❄' || n, n), 'UTF8') AS b) t WHERE S.looped(b) <> S.crc(b)",
  );
  expect(rows).toEqual([{ number: 0 }]);
});

/** The absurd values of a column, as SQL. */
function valuesOf(type: string, column: string): readonly string[] {
  if (type === 'integer' || type === 'bigint') {
    const most = type === 'integer' ? '2147483647' : '9223372036854775807';
    return ['NULL', '-1', '0', '1', '2', most, `-${most}`, `${column} + 1`, `${column} - 1`];
  }
  if (type === 'ARRAY') return ['NULL', "'{}'", "'{x}'"];
  return ['NULL', "''", "'x'", "'running'", `${column} || 'x'`, "repeat('a', 100000)", "E'\\n'", "'{}'"];
}

const lockedAway = (schema: string, form: string, more = '') => {
  const text = `replace(envelope, '"schemaVersion"', '${form}"schemaVersion"')`;
  return `UPDATE ${schema}dispatches SET version = version + 1, envelope = ${text}, checksum = encode(sha256(convert_to(
    concat_ws(E'\\n', written_as, started_at, status, ${text}), 'UTF8')), 'hex')${more}`;
};

/** Appends an event with its checksum after the last one of each dispatch. `id`, `line` and `position` are SQL. */
function nextEvent(schema: string, id: string, line: string, position = 'n', number = 'number'): string {
  return `SELECT ${schema}append(${number}, epoch, (${position})::int, ${line}, ${id},
    ${schema}crc(int4send(last) || convert_to(${line}, 'UTF8'))::text, writer, 'off', last) FROM (
      SELECT d.number, d.epoch, coalesce(d.writer, '') AS writer, (SELECT max(position) + 1 FROM ${schema}events WHERE dispatch = d.number) AS n,
        (SELECT checksum FROM ${schema}events WHERE dispatch = d.number ORDER BY position DESC LIMIT 1) AS last
      FROM ${schema}dispatches d ORDER BY d.writer) t`;
}

/** Two events, of which only the second one has the id that is given for it. */
function gapBeforeSecond(schema: string): string {
  const [first, second] = ['nope', 'worse'].map((id) => `'{"id":"${id}","type":"a:b"}'`);
  return `SELECT ${schema}append(number, epoch, n, ${first} || E'\\n' || ${second}, 'bad,worse',
    one || ',' || ${schema}crc(int4send(one) || convert_to(${second}, 'UTF8')), writer, 'off', last) FROM (
      SELECT d.*, e.position + 1 AS n, e.checksum AS last, ${schema}crc(int4send(e.checksum) || convert_to(${first}, 'UTF8')) AS one
      FROM ${schema}dispatches d JOIN LATERAL (SELECT * FROM ${schema}events WHERE dispatch = number ORDER BY position DESC LIMIT 1) e ON true
      WHERE writer IS NOT NULL) t`;
}

/** Whole events to add that no reader could read, or that would leave a gap. */
function wrongEvents(schema: string): string[] {
  const line = (rest: string) => `'{"id":"bad","type":"a:b"${rest}'`;
  const add = (...args: [string, string, string?, string?]) => nextEvent(schema, ...args);
  return [
    ...['', '}x', ',"type":5}', ',"id":"other"}', `,"data":${'['.repeat(1_001)}${']'.repeat(1_001)}}`].map(
      (rest) => add("'bad'", line(rest)),
    ),
    ...['[]', 'null', '{}', '"bad"', '{"id":"bad"}', '{"id":"bad","type":null}'].map((text) =>
      add("'bad'", `'${text}'`),
    ),
    add("'bad'", `E'{"id":"bad",\\n"type":"a:b"}'`),
    ...["''", "'a,b'", "'other'", "repeat('a', 200)"].map((id) => add(id, line('}'))),
    ...['n + 1', '-1', '2147483647', '0'].map((position) => add("'bad'", line('}'), position)),
    ...['-1', '0', 'number + 1000', '9223372036854775807'].map((number) =>
      add("'bad'", line('}'), 'n', number),
    ),
    add("'bad'", line('}')).replace('int4send(last)', 'int4send(last + 1)'),
    add("'bad'", line('}')).replace("'off', last)", "'off', last + 1)"),
    // Numbers that JSON has and JavaScript does not, in a line that is long enough to be looked through.
    ...['1e400', '-1e999', '9'.repeat(400)].map((value) =>
      add("'bad'", line(`,"data":{"long":"${'x'.repeat(3_000)}","value":${value}}}`)),
    ),
    gapBeforeSecond(schema),
    // More events than checksums, ids or lines, and one wrong among good ones.
    add("'bad,worse'", line('}')),
    add("'bad'", `${line('}')} || E'\\n' || ${line('}')}`),
    // A first event beside those that are there, and one before them.
    add("'bad'", line('}'), '0').replaceAll('last)', `${schema}crc('x'))`),
  ];
}

/** Statements about one table. */
async function statementsOn(stores: Stores, table: string): Promise<string[]> {
  const { rows } = await stores.sql(
    'SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY 1',
    [stores.schema, table],
  );
  const columns = rows as { name: string; type: string }[];
  const on = `"${stores.schema}".${table}`;
  const names = columns.map(({ name }) => name);
  const cells = columns.flatMap(({ name, type }) =>
    valuesOf(type, name).map((value) => [name, value] as const),
  );
  return [
    ...cells.map(([name, value]) => `UPDATE ${on} SET ${name} = ${value}`),
    ...cells.flatMap(([name, value]) => {
      const selected = names.map((other) => (other === name ? value : other)).join(', ');
      const row = `(${names.join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${selected} FROM ${on} LIMIT 1`;
      const others = names.filter((other) => other !== 'number');
      const without = others.map((other) => (other === name ? value : other)).join(', ');
      return [
        `INSERT INTO ${on} ${row}`,
        `INSERT INTO ${on} (${others.join(', ')}) SELECT ${without} FROM ${on} LIMIT 1`,
      ];
    }),
    ...names.map(
      (name) => `INSERT INTO ${on} SELECT * FROM ${on} ON CONFLICT DO UPDATE SET ${name} = DEFAULT`,
    ),
    `INSERT INTO ${on} DEFAULT VALUES`,
    `DELETE FROM ${on}`,
    `TRUNCATE ${on} CASCADE`,
    `MERGE INTO ${on} t USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE`,
    `DROP TABLE ${on} CASCADE`,
    `ALTER TABLE ${on} DISABLE TRIGGER ALL`,
    `ALTER TABLE ${on} RENAME TO other`,
    `ALTER TABLE ${on} OWNER TO CURRENT_USER`,
    `ALTER TABLE ${on} ADD COLUMN more text`,
    `ALTER TABLE ${on} ENABLE ROW LEVEL SECURITY`,
    `CREATE INDEX ON ${on} ((1 / 0))`,
    `CREATE RULE none AS ON INSERT TO ${on} DO INSTEAD NOTHING`,
    `CREATE TRIGGER mine BEFORE INSERT ON ${on} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    `DROP TRIGGER guard ON ${on}`,
    `GRANT ALL ON ${on} TO CURRENT_USER`,
    `REVOKE ALL ON ${on} FROM PUBLIC`,
    `LOCK TABLE ${on} IN ACCESS EXCLUSIVE MODE`,
    `SELECT FROM ${on} FOR UPDATE`,
    `VACUUM FULL ${on}`,
    `CLUSTER ${on}`,
    `COPY ${on} FROM PROGRAM 'true'`,
  ];
}

function otherStatements(stores: Stores, owner: string): string[] {
  const schema = `"${stores.schema}".`;
  const mine = 'LANGUAGE sql AS $$ SELECT true $$';
  return [
    ...wrongEvents(schema),
    `INSERT INTO ${schema}events (dispatch, position, checksum, id, line) SELECT number, 1000, 0, 'bad', 'x' FROM ${schema}dispatches`,
    nextEvent(schema, "'good-' || n", `'{"id":"good-' || n || '","type":"a:b","timestamp":null,"data":{}}'`),
    ...[
      '"usage":{},',
      '"cost":-1,',
      '"cost":1e400,',
      '"fidelity":"less",',
      '"status":"paused",',
      '"dispatchId":"x",',
      'x',
    ].map((form) => lockedAway(schema, form)),
    lockedAway(schema, '"title":"mine",'),
    lockedAway(schema, '"title":"mine",', ', epoch = epoch + 1'),
    lockedAway(schema, '"title":"mine",', ', acknowledged = acknowledged + 1'),
    `UPDATE ${schema}dispatches SET writer = 'me', epoch = epoch + 1`,
    `UPDATE ${schema}dispatches SET writer = 'me', epoch = 9223372036854775807`,
    `UPDATE ${schema}dispatches SET writer = NULL, epoch = epoch + 1`,
    `UPDATE ${schema}dispatches SET task_dir = 'away', writer = NULL`,
    `INSERT INTO ${schema}openings VALUES ('me', repeat('x', 5000), 1)`,
    `INSERT INTO ${schema}openings VALUES ('me', '{}', 9223372036854775807)`,
    `SET ROLE ${owner}`,
    'SET session_replication_role = replica',
    `DROP SCHEMA "${stores.schema}" CASCADE`,
    `ALTER SCHEMA "${stores.schema}" RENAME TO mine`,
    `CREATE TABLE ${schema}mine (a int)`,
    `CREATE OR REPLACE FUNCTION ${schema}is_owner(relation oid) RETURNS boolean ${mine}`,
    `DROP FUNCTION ${schema}append CASCADE`,
    `ALTER FUNCTION ${schema}crc OWNER TO CURRENT_USER`,
    `SELECT setval(pg_get_serial_sequence('${schema}dispatches', 'number'), 1)`,
    `ALTER SEQUENCE ${schema}dispatches_number_seq RESTART`,
    `UPDATE pg_catalog.pg_trigger SET tgenabled = 'D'`,
    `CREATE OPERATOR ${schema}= (FUNCTION = int4ne, LEFTARG = int4, RIGHTARG = int4)`,
  ];
}

interface Tally {
  statements: number;
  refused: number;
  changed: string[];
  locked: string[];
}

interface Attack {
  readonly kind: 'writer' | 'reader';
  /** What the superuser takes away before, in which `S.` stands for the schema. Ends the attack at the first success. */
  readonly without?: string;
  /** Only statements about this table, and those that are about none. */
  readonly table?: string;
}

/** Runs each statement as a role, and looks after each accepted one whether both histories are as they were and can be continued. */
async function attack(at: TestServer, { kind, without, table: only }: Attack): Promise<Tally> {
  const { stores, roles, open } = await withRoles();
  if (without !== undefined) await stores.sql(without.replaceAll('WRITER', roles.writer));
  const first = await open('writer');
  for (const id of [dispatchId, ended]) {
    await first.createDispatch(taskDir, envelope({ dispatchId: id }));
    await first.appendEvents(taskDir, id, growingEvents(5));
  }
  await first.updateDispatch(taskDir, ended, { status: 'completed' });
  await first.releaseDispatch(taskDir, ended);
  await first.putTask(taskDir, task);
  await first.searchEvents('text');
  const history = `SELECT d.number, d.task_dir, d.dispatch_id, e.position, e.checksum, e.id, e.line
    FROM S.dispatches d JOIN S.events e ON e.dispatch = d.number WHERE position < 5 ORDER BY dispatch_id, position`;
  const before = (await stores.sql(history)).rows;
  expect(before).toHaveLength(10);
  const every = ['meta', 'tasks', 'dispatches', 'events', 'openings', 'event_words', 'accepted_losses'];
  const tables = every.filter((table) => only === undefined || table === only);
  const statements = otherStatements(stores, roles.owner);
  for (const table of tables) statements.push(...(await statementsOn(stores, table)));
  const thief = new Client(at.url(roles[kind]));
  await thief.connect();
  onTestFinished(() => thief.end());
  await thief.query("SET statement_timeout = '5s'; SET lock_timeout = '1s'");
  const tally: Tally = { statements: statements.length, refused: 0, changed: [], locked: [] };
  const honest = await open('writer');
  for (const [index, text] of statements.entries()) {
    try {
      await thief.query(text);
    } catch {
      tally.refused += 1;
      continue;
    }
    await thief.query('RESET ROLE');
    if (without !== undefined && tally.changed.length + tally.locked.length > 0) return tally;
    const now = (await stores.sql(history)).rows;
    if (JSON.stringify(now) !== JSON.stringify(before)) tally.changed.push(text);
    for (const id of [dispatchId, ended]) {
      const goesOn = async () => {
        await honest.breakClaim(taskDir, id);
        await honest.claimDispatch(taskDir, id);
        await honest.appendEvent(taskDir, id, {
          ...(growingEvents(1)[0] as CapturedEvent),
          id: `${id}-${index}`,
        });
        await honest.updateDispatch(taskDir, id, { title: `after ${index}` });
        const read = await honest.getDispatchEvents(taskDir, id);
        expect(read.slice(0, 5)).toEqual(growingEvents(5));
        expect((await honest.verifyDispatch(taskDir, id)).damages).toEqual([]);
        // The other one stays claimed, so that only the events are a reason to refuse an append.
        if (id === ended) await honest.releaseDispatch(taskDir, id);
      };
      await goesOn().catch((error: unknown) => tally.locked.push(`${text}: ${String(error)}`));
    }
  }
  return tally;
}

it('no statement of a stolen writer or reader changes or locks a history', { timeout: 120_000 }, async () => {
  for (const kind of ['writer', 'reader'] as const) {
    const { statements, refused, ...harm } = await attack(server(), { kind });
    expect(harm).toEqual({ changed: [], locked: [] });
    expect({ kind, statements, refused }).toEqual({ kind, ...counted[kind] });
  }
});

/** How many statements there are, and how many of them the server refuses. The README has these figures. */
const counted = {
  writer: { statements: 1068, refused: 1006 },
  reader: { statements: 1068, refused: 1047 },
};

it('the README has the figures of the attack', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8').replaceAll(/,(?=\d)/g, '');
  for (const { statements, refused } of Object.values(counted))
    for (const figure of [statements, refused]) expect(readme).toContain(` ${figure} `);
});

/** The function that appends, with other text in the place of a check. Quotes are doubled. */
function withoutCheck(check: string, by: string): string {
  const text = "pg_get_functiondef('S.append'::regproc)";
  return `DO $do$ BEGIN
    IF strpos(${text}, '${check}') = 0 THEN RAISE EXCEPTION 'no such check'; END IF;
    EXECUTE replace(${text}, '${check}', '${by}');
  END $do$`;
}

it.each([
  ['the checks of an append', 'GRANT INSERT ON S.events TO WRITER', 'meta'],
  ['the checksum of an append', withoutCheck('AND g.checksum = S.crc(', 'AND 0 <= octet_length('), 'meta'],
  ['the ids of an append', withoutCheck("(event -> ''id'')::text =", "true OR ''x'' ="), 'meta'],
  ['the limits of a line', withoutCheck('octet_length(line) < 2000', 'true'), 'meta'],
  ['the number of appended events', withoutCheck("PERFORM S.refuse(''these events'')", 'NULL'), 'meta'],
  ['the trigger of dispatches', 'DROP TRIGGER guard ON S.dispatches', 'dispatches'],
  [
    'the limit of epochs',
    'GRANT UPDATE (epoch) ON S.dispatches TO WRITER; ALTER TABLE S.dispatches DISABLE TRIGGER guard',
    'meta',
  ],
  ['the grants by column', 'GRANT UPDATE ON S.dispatches TO WRITER', 'dispatches'],
  ['the right to change an event', 'GRANT UPDATE ON S.events TO WRITER', 'events'],
  ['the right to delete an event', 'GRANT DELETE ON S.events TO WRITER', 'events'],
  ['the right to delete a dispatch', 'GRANT DELETE ON S.dispatches TO WRITER', 'dispatches'],
  ['the version of the tables', 'GRANT UPDATE ON S.meta TO WRITER', 'meta'],
])('the attack finds a way without %s', { timeout: 60_000 }, async (_, without, table) => {
  const { changed, locked } = await attack(server(), { kind: 'writer', without, table });
  expect(changed.length + locked.length).toBeGreaterThan(0);
});

it('first openings at once all succeed under any default isolation', async () => {
  for (const isolation of ['read committed', 'repeatable read', 'serializable']) {
    const stores = newStores(server());
    const role = `isolated_${stores.schema}`;
    await superuser(server(), `CREATE ROLE ${role} LOGIN SUPERUSER`);
    await superuser(server(), `ALTER ROLE ${role} SET default_transaction_isolation = '${isolation}'`);
    const url = server().url(role);
    const opened = await Promise.all(Array.from({ length: 10 }, () => stores.open({ url, connections: 2 })));
    const created = opened.map(async (store, index) => {
      const id = `opened-${index}`;
      await store.createDispatch(taskDir, envelope({ dispatchId: id }));
      await store.appendEvents(taskDir, id, growingEvents(2));
    });
    expect(await Promise.allSettled(created)).toEqual(created.map(() => ({ status: 'fulfilled' })));
    expect(await opened[0]?.getDispatchEnvelopes(taskDir)).toHaveLength(10);
  }
});
