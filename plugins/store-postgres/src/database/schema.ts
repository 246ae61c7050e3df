import { type SetupRoles, type StoreError, storeErrors } from '@hansard/provider';
import { checksumOf } from '@hansard/store-kit';
import type { Database, Session, Statement } from './database.ts';
import { guardsSql } from './guards.ts';

/** The version of the tables that this package creates and uses. */
const newestVersion = 1;
/** `string_to_table`, with which a batch is one statement, exists since this version. */
const oldestServer = 140_000;

/*
 * The SQL that creates the tables. A schema that exists is used, so that its owner needs no right to create one.
 *
 * Names and ids have the collation "C": they are told apart and sorted by their bytes, whatever the locale of the database.
 *
 * checksum               of the row; see checksums.ts
 * dispatches.written_as  `TASK/ID`, the name under which the dispatch was written. A row at another place is STORE_MISPLACED. The
 *                        checksum covers this name and not its place.
 * dispatches.version     grows with each change of the envelope
 * dispatches.writer      the token of the opening that has claimed the dispatch; see claims.ts
 * dispatches.epoch       grows with each claim
 * dispatches.acknowledged  the number of events when the dispatch last ended or was released; fewer events are damage
 * dispatches.searchable_events  the number of events whose words are in event_words
 * events                 has no foreign key, which would lock the row of the dispatch for each event
 * events.line            the event as `encodeEvent` writes it; a text, because `jsonb` changes or refuses some values
 * accepted_losses        the rows of a damaged dispatch stay in `events` under the old number; see accept-loss.ts
 */
const tablesSql = (name: string, schema = quoteName(name)): string => `
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${name}')
  THEN CREATE SCHEMA ${schema}; END IF;
END $$;
CREATE TABLE ${schema}.meta (version integer NOT NULL);
CREATE TABLE ${schema}.tasks (
  task_dir text COLLATE "C" PRIMARY KEY,
  version  bigint NOT NULL DEFAULT 1,
  checksum integer NOT NULL,
  record   text NOT NULL
);
CREATE TABLE ${schema}.openings (
  token text COLLATE "C" PRIMARY KEY,
  owner text NOT NULL,
  beat  bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE ${schema}.dispatches (
  number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_dir     text COLLATE "C" NOT NULL,
  dispatch_id  text COLLATE "C" NOT NULL,
  written_as   text COLLATE "C" NOT NULL,
  started_at   text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL,
  version      bigint NOT NULL DEFAULT 1,
  writer       text COLLATE "C",
  epoch        bigint NOT NULL,
  acknowledged integer NOT NULL DEFAULT 0,
  searchable_events integer NOT NULL DEFAULT 0,
  checksum     text COLLATE "C" NOT NULL,
  envelope     text NOT NULL,
  UNIQUE (task_dir, dispatch_id)
) WITH (fillfactor = 70);
CREATE INDEX dispatches_by_start ON ${schema}.dispatches (started_at, task_dir, dispatch_id);
CREATE INDEX dispatches_by_writer ON ${schema}.dispatches (writer) WHERE writer IS NOT NULL;
CREATE TABLE ${schema}.events (
  dispatch bigint NOT NULL,
  position integer NOT NULL,
  checksum integer NOT NULL,
  id       text COLLATE "C" NOT NULL,
  line     text NOT NULL,
  PRIMARY KEY (dispatch, position),
  UNIQUE (dispatch, id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE TABLE ${schema}.event_words (
  dispatch bigint NOT NULL,
  position integer NOT NULL,
  at       text COLLATE "C" NOT NULL,
  words    text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (dispatch, position)
);
CREATE INDEX event_words_by_word ON ${schema}.event_words USING gin (words);
CREATE TABLE ${schema}.accepted_losses (
  number       bigint PRIMARY KEY,
  dispatch     bigint NOT NULL,
  verification text NOT NULL
);
INSERT INTO ${schema}.meta (version) VALUES (${newestVersion});`;

interface ServerRow {
  readonly encoding: string;
  readonly version: number;
  readonly exists: boolean;
}

/** The list of tables is read as such: functions like `to_regclass` may answer from a cache of the connection. */
const serverStatement = (schema: string): Statement<ServerRow> => ({
  name: '',
  text: `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num')::int AS version,
           EXISTS (SELECT FROM pg_tables WHERE schemaname = '${schema}' AND tablename = 'meta') AS exists`,
});

/** The tables of one store. The first write creates them; a database without them is an empty store. */
export class Schema {
  /** The quoted name. */
  readonly quoted: string;
  readonly #name: string;
  readonly #database: Database;
  readonly #mayCreate: boolean;
  #isReady = false;
  #mayInsert = true;
  #creation: Promise<void> | null = null;

  constructor(database: Database, name: string, mayCreate: boolean) {
    this.quoted = quoteName(name);
    this.#name = name;
    this.#database = database;
    this.#mayCreate = mayCreate;
  }

  /**
   * Whether the tables exist. Looks until they do.
   * @throws STORE_UNAVAILABLE if this version cannot use the server or the tables
   */
  async isReady(session: Pick<Session, 'run'> = this.#database): Promise<boolean> {
    if (this.#isReady) return true;
    const { rows } = await session.run(serverStatement(this.#name));
    const [server] = rows;
    if (server === undefined) return false;
    this.#assertServer(server);
    if (!server.exists) return false;
    const { rows: versions } = await session.run<{ version: number; mayInsert: boolean }>({
      name: '',
      text: `SELECT version, has_table_privilege('${this.quoted}.events', 'INSERT') AS "mayInsert" FROM ${this.quoted}.meta`,
    });
    this.assertVersion(versions[0]?.version);
    this.#mayInsert = versions[0]?.mayInsert !== false;
    this.#isReady = true;
    return true;
  }

  /** Whether this role inserts events itself. Otherwise it calls a function; see guards.ts. */
  get mayInsert(): boolean {
    return this.#mayInsert;
  }

  /** Creates the tables if they do not exist. @throws STORE_UNAVAILABLE */
  async create(): Promise<void> {
    if (await this.isReady()) return;
    this.#creation ??= this.#create().finally(() => {
      this.#creation = null;
    });
    await this.#creation;
  }

  async #create(): Promise<void> {
    if (!this.#mayCreate)
      throw this.#unavailable(
        'has no tables, and this store may not create them (`createTables: false`). Create them with the SQL that `setupSql()` returns',
      );
    await this.#database.transaction(async (session) => {
      // One of several processes creates the tables, and the others then see them.
      const key = checksumOf(this.quoted) | 0;
      await session.run({ name: '', text: `SELECT pg_advisory_xact_lock(1212240196, ${key})` });
      if (await this.isReady(session)) return;
      await session.run({ name: '', text: tablesSql(this.#name) });
    });
    this.#isReady = true;
  }

  #assertServer({ encoding, version }: ServerRow): void {
    if (encoding !== 'UTF8')
      throw this.#unavailable(
        `has the encoding ${encoding}, which cannot store every text. Create a database with ENCODING 'UTF8'`,
      );
    if (version < oldestServer)
      throw this.#unavailable(
        `runs on PostgreSQL ${Math.floor(version / 10_000)}. Use PostgreSQL ${oldestServer / 10_000} or newer`,
      );
  }

  /** `version` is what the tables say now. @throws STORE_UNAVAILABLE unless this version can use them */
  assertVersion(version: number | null | undefined): void {
    if (version === newestVersion) return;
    throw this.#unavailable(
      version == null
        ? 'has tables without a version. Configure another `schema`'
        : `was written by a newer @hansard/store-postgres (version ${version}; this one supports ${newestVersion}). Update the package`,
    );
  }

  #unavailable(what: string): StoreError {
    const { name } = this.#database;
    return storeErrors.error('STORE_UNAVAILABLE', `The schema ${this.quoted} of ${name} ${what}.`, {
      details: { database: name, reason: what },
    });
  }
}

/** @throws TypeError */
export function quoteName(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new TypeError(
      `A schema must be 1 to 63 of a-z 0-9 _, not starting with a digit: ${JSON.stringify(name)}`,
    );
  return `"${name}"`;
}

export interface SetupSqlOptions extends SetupRoles {
  /** Default `hansard`. */
  readonly schema?: string;
}

/**
 * The SQL that creates the tables of a store and grants rights to roles that exist. Triggers hold the writer to what a store does, so that
 * it can neither change the events of a dispatch nor make them unreadable. A user that may create schemas runs it once, with `psql`. Set
 * `createTables: false` for the writer and the reader.
 * @throws TypeError for a name that PostgreSQL does not allow
 */
export function setupSql({ schema = 'hansard', owner, writer, reader }: SetupSqlOptions = {}): string {
  const quoted = quoteName(schema);
  const beginning =
    owner === undefined
      ? 'BEGIN;'
      : `BEGIN;\nCREATE SCHEMA IF NOT EXISTS ${quoted} AUTHORIZATION ${quoteRole(owner)};\nSET LOCAL ROLE ${quoteRole(owner)};`;
  const grants: string[] = [];
  for (const role of [writer, reader])
    if (role !== undefined)
      grants.push(
        `GRANT USAGE ON SCHEMA ${quoted} TO ${quoteRole(role)};`,
        `GRANT SELECT ON ALL TABLES IN SCHEMA ${quoted} TO ${quoteRole(role)};`,
      );
  if (writer !== undefined)
    for (const [table, rights] of writerRights)
      grants.push(`GRANT ${rights} ON ${quoted}.${table} TO ${quoteRole(writer)};`);
  if (writer !== undefined)
    grants.push(`GRANT EXECUTE ON FUNCTION ${quoted}.append TO ${quoteRole(writer)};`);
  const guards = writer === undefined ? '' : guardsSql(quoted);
  return `${beginning}${tablesSql(schema)}${guards}\n${[...grants, 'COMMIT;'].join('\n')}\n`;
}

/** By column, so that ids and numbers never change; the triggers limit the values. */
const writerRights: readonly (readonly [table: string, rights: string])[] = [
  ['tasks', 'INSERT (task_dir, checksum, record), UPDATE (version, checksum, record)'],
  [
    'dispatches',
    `INSERT (task_dir, dispatch_id, written_as, started_at, status, writer, epoch, checksum, envelope),
  UPDATE (started_at, status, version, writer, epoch, acknowledged, searchable_events, checksum, envelope)`,
  ],
  ['openings', 'INSERT (token, owner, beat), UPDATE (beat), DELETE'],
  ['event_words', 'INSERT (dispatch, position, at, words)'],
];

function quoteRole(name: string): string {
  if (name === '' || Buffer.byteLength(name) > 63 || name.includes('\0'))
    throw new TypeError(`The name of a role must have 1 to 63 bytes: ${JSON.stringify(name)}`);
  return `"${name.replaceAll('"', '""')}"`;
}
