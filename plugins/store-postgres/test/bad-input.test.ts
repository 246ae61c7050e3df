import { storeErrors } from '@hansard/provider';
import { startProxy } from '@hansard/testing/cutting-proxy';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, taskDir } from '@hansard/testing/store-samples';
import { DatabaseError } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toStoreError } from '../src/database/postgres-errors.ts';
import plugin, { openPostgresStore } from '../src/index.ts';
import { newSchema } from './server/new-schema.ts';
import { codeOf, newStores, superuser } from './server/stores.ts';

const server = useServer();
const password = 'correct horse battery staple';

/** The message of the error of a call, with what it shows when it is printed. */
async function failureOf(
  call: Promise<unknown>,
): Promise<{ code: string; message: string; isTransient: boolean; printed: string }> {
  try {
    await call;
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
    const { code, message, isTransient } = error;
    return { code, message, isTransient, printed: `${error.stack} ${JSON.stringify(error)}` };
  }
  throw new Error('The call succeeded.');
}

describe('a wrong configuration is STORE_UNAVAILABLE, says what to do, and shows no password', () => {
  const cases: readonly [string, () => string, RegExp][] = [
    [
      'a server that is away',
      () => `postgresql://u:${password}@127.0.0.1:1/d`,
      /cannot be reached.*host and port/,
    ],
    ['an unknown host', () => `postgresql://u:${password}@db.invalid/d?sslmode=disable`, /host of the URL/],
    ['a wrong password', () => server().url('secured', 'wrong horse'), /refused the user or its password/],
    ['an unknown user', () => server().url('nobody', password), /refused the user or its password/],
    ['an unknown database', () => `${server().url()}x`, /does not exist\. Create it/],
    ['no URL', () => `postgresql//u:${password}@h/d`, /it is not a URL.*postgresql:\/\/USER/],
    ['another kind of URL', () => `mysql://u:${password}@h/d`, /its scheme is not postgresql/],
    [
      'an unknown parameter',
      () => `postgresql://u:${password}@h/d?sslmodus=x`,
      /unknown parameter\. Known ones/,
    ],
    ['a password with a question mark', () => 'postgresql://u:12?sesame@h/d', /%3F/],
    ['a password with a slash', () => 'postgresql://u:12/sesame@h/d', /%2F/],
    ['a password with a number sign', () => 'postgresql://u:12#sesame@h/d', /%23/],
    ['a password without a scheme', () => 'sesame:horse@h/d', /its scheme is not/],
    ['a password in the place of a parameter', () => 'postgresql://u@h/d?sesame=1', /unknown parameter/],
    ['a password in the place of sslmode', () => 'postgresql://u@h/d?sslmode=sesame', /sslmode is unknown/],
    ['an unknown sslmode', () => `postgresql://u:${password}@h/d?sslmode=prefer`, /Use verify-full/],
    ['a server without that certificate', () => `${server().url()}?sslmode=verify-full`, /Set `tlsCa`/],
  ];
  it.each(cases)('%s', async (_, url, expected) => {
    await superuser(
      server(),
      "DO $$ BEGIN CREATE ROLE secured LOGIN PASSWORD 'correct horse battery staple'; EXCEPTION WHEN duplicate_object THEN END $$",
    );
    const { code, message, printed } = await failureOf(openPostgresStore({ url: url() }));
    expect(code).toBe('STORE_UNAVAILABLE');
    expect(message).toMatch(expected);
    for (const secret of [password, encodeURIComponent(password), 'wrong horse', 'wrong%20horse', 'sesame'])
      expect(printed).not.toContain(secret);
  });

  it('a server that does not answer, within the time limit', async () => {
    const proxy = await startProxy(server().port);
    onTestFinished(proxy.close);
    proxy.block();
    const url = `postgresql://postgres@127.0.0.1:${proxy.port}/postgres`;
    const { message } = await failureOf(openPostgresStore({ url, connectTimeout: 300 }));
    expect(message).toMatch(/did not answer in time/);
  });

  it('a configuration whose environment variable is not set', async () => {
    const context = { baseDir: '.', signal: new AbortController().signal };
    const create = async () => plugin.create({ urlFrom: 'HANSARD_NO_SUCH_URL' }, context);
    expect((await failureOf(create())).message).toMatch(/HANSARD_NO_SUCH_URL is not set/);
  });
});

describe('TLS', () => {
  it('is used and verified with the certificates of the authority', async () => {
    await superuser(
      server(),
      'DO $$ BEGIN CREATE ROLE encrypted LOGIN SUPERUSER; EXCEPTION WHEN duplicate_object THEN END $$',
    );
    await using store = await openPostgresStore({
      url: server().url('encrypted').replace('127.0.0.1', 'localhost'),
      tlsCa: server().certificate,
      schema: newSchema(),
    });
    expect(await store.listTasks()).toEqual([]);
    // Without TLS the server refuses this user.
    expect(await codeOf(openPostgresStore({ url: server().url('encrypted') }))).toBe('STORE_UNAVAILABLE');
  });

  it('refuses a certificate of another host, also for an address', async () => {
    const { message } = await failureOf(
      openPostgresStore({ url: server().url('encrypted'), tlsCa: server().certificate }),
    );
    expect(message).toMatch(/certificate that cannot be verified.*use the host of the certificate/);
  });
});

describe('a database that cannot be used is STORE_UNAVAILABLE', () => {
  it('with another encoding than UTF-8', async () => {
    await superuser(server(), "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'");
    const url = server()
      .url()
      .replace(/postgres$/, 'latin');
    expect((await failureOf(openPostgresStore({ url }))).message).toMatch(/encoding LATIN1.*ENCODING 'UTF8'/);
  });

  it('with tables of a newer version', async () => {
    const stores = newStores(server());
    await (await stores.open()).putTask(taskDir, { taskDir } as never);
    await stores.sql('UPDATE S.meta SET version = 2');
    expect((await failureOf(stores.open())).message).toMatch(
      /newer @hansard\/store-postgres \(version 2.*Update/,
    );
  });

  it('with tables that a newer version changed while the store was open, at each claim and creation', async () => {
    const stores = newStores(server());
    const store = await stores.open();
    await store.createDispatch(taskDir, envelope());
    await store.releaseDispatch(taskDir, dispatchId);
    await stores.sql('UPDATE S.meta SET version = 2');
    const calls = [
      () => store.claimDispatch(taskDir, dispatchId),
      () => store.createDispatch(taskDir, envelope({ dispatchId: 'OTHER' })),
      () => store.deleteDispatch(taskDir, dispatchId),
    ];
    for (const call of calls)
      expect(await failureOf(call())).toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/newer @hansard\/store-postgres \(version 2.*Update/),
        isTransient: false,
      });
    await stores.sql('UPDATE S.meta SET version = 1');
    expect(await store.findClaim(taskDir, dispatchId)).toBeNull();
    await store.claimDispatch(taskDir, dispatchId);
    expect(await store.getDispatchEnvelopes(taskDir)).toHaveLength(1);
  });

  it('as a standby, and that can be repeated', async () => {
    const stores = newStores(server());
    const store = await stores.open();
    await store.createDispatch(taskDir, envelope());
    await superuser(server(), 'CREATE ROLE standby LOGIN SUPERUSER');
    await superuser(server(), 'ALTER ROLE standby SET default_transaction_read_only = on');
    const standby = await stores.open({ url: server().url('standby') });
    expect(await standby.getDispatchEnvelopes(taskDir)).toHaveLength(1);
    const failure = failureOf(standby.putTask(taskDir, { taskDir } as never));
    expect(await failure).toMatchObject({ message: expect.stringMatching(/primary/), isTransient: true });
  });

  it('without tables that it may create, and without the right to create them', async () => {
    const stores = newStores(server());
    const store = await stores.open({ createTables: false });
    expect(await store.listTasks()).toEqual([]);
    expect((await failureOf(store.createDispatch(taskDir, envelope()))).message).toMatch(/setupSql/);
    await superuser(server(), 'CREATE ROLE poor LOGIN');
    const poor = await stores.open({ url: server().url('poor') });
    expect((await failureOf(poor.createDispatch(taskDir, envelope()))).message).toMatch(
      /Grant the rights for anything else/,
    );
  });

  it('whose tables were dropped while the store was open', async () => {
    const stores = newStores(server());
    const store = await stores.open();
    await store.createDispatch(taskDir, envelope());
    await stores.sql(`DROP SCHEMA ${stores.schema} CASCADE`);
    expect((await failureOf(store.listTasks())).message).toMatch(/no longer has the tables/);
  });

  it.each([
    ['53100', 'could not extend file: No space left on device', /no free space/, false],
    ['53300', 'sorry, too many clients already', /max_connections/, true],
    ['26000', 'prepared statement "hansard_append" does not exist', /`prepare: false`/, false],
    ['57P03', 'the database system is starting up', /Try again/, true],
    ['57014', 'canceling statement due to statement timeout', /too long/, true],
  ])('by the error %s: %s', (sqlState, text, expected, isTransient) => {
    const cause = Object.assign(new DatabaseError(text, 0, 'error'), { code: sqlState });
    expect(toStoreError(cause, 'db:5432/d')).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(expected),
      isTransient,
      cause,
    });
  });
});

describe('two stores of one database', () => {
  it('with different schemas know nothing of each other', async () => {
    const [left, right] = [newStores(server()), newStores(server())];
    const [first, second] = [await left.open(), await right.open()];
    await first.createDispatch(taskDir, envelope());
    expect(await second.listTasks()).toEqual([]);
    await second.createDispatch(taskDir, envelope({ role: 'other' }));
    expect((await first.getDispatchEnvelopes(taskDir)).map(({ role }) => role)).toEqual(['worker']);
  });

  it('refuse the name of a schema that is none', async () => {
    await expect(openPostgresStore({ url: server().url(), schema: 'a"; DROP' })).rejects.toThrow(TypeError);
  });
});
