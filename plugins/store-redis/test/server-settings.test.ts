import { storeErrors } from '@hansard/provider';
import { startProxy } from '@hansard/testing/cutting-proxy';
import { startRedis } from '@hansard/testing/redis';
import { describeWithRedis, useRedis } from '@hansard/testing/redis-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, notice, taskDir } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import plugin, { openRedisStore, type RedisStoreOptions } from '../src/index.ts';
import { command, commands } from './server/keys.ts';

const server = useRedis();
const password = 'correct horse battery staple';
let prefixes = 0;

async function opened(options: Partial<RedisStoreOptions> = {}) {
  prefixes += 1;
  const all = { url: server().url(), prefix: `settings-${prefixes}`, ...options };
  const store = await openRedisStore(all);
  onTestFinished(() => store.close());
  return { store, prefix: all.prefix };
}

/** The error of a call, with what it shows when it is printed. */
async function failureOf(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
    const { code, message, isTransient } = error;
    return { code, message, isTransient, printed: `${error.stack} ${JSON.stringify(error)}` };
  }
  throw new Error('The call succeeded.');
}

/** Sets settings of the shared server until the test ends. */
async function set(settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    const before = (await command(server().url(), 'CONFIG', 'GET', name)) as readonly string[];
    await command(server().url(), 'CONFIG', 'SET', name, value);
    onTestFinished(async () => void (await command(server().url(), 'CONFIG', 'SET', name, before[1] ?? '')));
  }
}

describeWithRedis(
  'a server that cannot keep a store is STORE_UNAVAILABLE, and the error says what to do',
  () => {
    it.each([
      ['a disk that may lag', { appendfsync: 'everysec' }, /appendfsync everysec\)\. Set appendonly yes/],
      ['no append-only file', { appendonly: 'no' }, /appendonly no, .*or durability to 'process'/],
      ['an eviction of any key', { 'maxmemory-policy': 'allkeys-lru' }, /Set maxmemory-policy noeviction/],
      ['an eviction of leases', { 'maxmemory-policy': 'volatile-ttl' }, /Set maxmemory-policy noeviction/],
    ])('%s', async (_, settings, expected) => {
      await set(settings);
      const { code, message, isTransient } = await failureOf(opened());
      expect({ code, isTransient }).toEqual({ code: 'STORE_UNAVAILABLE', isTransient: false });
      expect(message).toMatch(expected);
    });

    it('a replica, which can become the primary', async () => {
      const replica = await startRedis(['--replicaof', '127.0.0.1', String(server().port)]);
      onTestFinished(() => replica.stop());
      expect(await failureOf(opened({ url: replica.url() }))).toMatchObject({
        isTransient: true,
        message: expect.stringMatching(/is a replica\. Use the URL of the primary|is loading/),
      });
    });

    it('a store of a newer version, at the opening and at each claim', async () => {
      const { store, prefix } = await opened();
      await store.createDispatch(taskDir, envelope());
      await store.releaseDispatch(taskDir, dispatchId);
      await command(server().url(), 'HSET', `{${prefix}}:meta`, 'version', '2');
      const newer = { message: expect.stringContaining('newer version of Hansard'), isTransient: false };
      expect(await failureOf(opened({ prefix }))).toMatchObject(newer);
      expect(await failureOf(store.claimDispatch(taskDir, dispatchId))).toMatchObject(newer);
      expect(await failureOf(store.createDispatch('a/b', envelope({ dispatchId: 'other' })))).toMatchObject(
        newer,
      );
    });

    it('a server that stops to wait for its disk: the next claim or creation is refused, and nothing is claimed', async () => {
      const { store } = await opened();
      await store.createDispatch(taskDir, envelope());
      await store.releaseDispatch(taskDir, dispatchId);
      await set({ appendfsync: 'no' });
      const lags = { message: expect.stringContaining('answers before data is on its disk') };
      expect(await failureOf(store.claimDispatch(taskDir, dispatchId))).toMatchObject(lags);
      expect(await failureOf(store.createDispatch('a/b', envelope({ dispatchId: 'other' })))).toMatchObject(
        lags,
      );
      expect(await store.findClaim(taskDir, dispatchId)).toBeNull();
      expect(await store.getDispatchEnvelope('a/b', 'other')).toBeNull();
    });
  },
);

describeWithRedis('a configuration that cannot be used is STORE_UNAVAILABLE', () => {
  it.each([
    ['a server that is away', `redis://u:${encodeURIComponent(password)}@127.0.0.1:1`, /host and port/],
    ['an unknown host', `redis://u:${encodeURIComponent(password)}@db.invalid`, /host of the URL/],
    ['no URL', `redis//u:sesame@h`, /it is not a URL/],
    ['another kind of URL', 'https://u:sesame@h/0', /its scheme is not redis/],
    ['a password with a question mark', 'redis://u:12?sesame@h/0', /%3F/],
    ['a password with a slash', 'redis://u:12/sesame@h/0', /%2F/],
    ['a password with a number sign', 'redis://u:12#sesame@h/0', /%23/],
    ['a parameter', 'redis://u@h/0?password=sesame', /it has parameters/],
    ['a database with a name', 'redis://u@h/sesame', /its database is not a number/],
  ])('%s, and shows no password', async (_, url, expected) => {
    const { code, message, printed } = await failureOf(opened({ url }));
    expect(code).toBe('STORE_UNAVAILABLE');
    expect(message).toMatch(expected);
    for (const secret of [password, encodeURIComponent(password), 'sesame'])
      expect(printed).not.toContain(secret);
  });

  it('a configuration whose environment variable is not set, and a prefix with a brace', async () => {
    const context = { baseDir: '.', signal: new AbortController().signal };
    const create = async () => plugin.create({ urlFrom: 'HANSARD_NO_SUCH_URL' }, context);
    expect((await failureOf(create())).message).toMatch(/HANSARD_NO_SUCH_URL is not set/);
    expect((await failureOf(opened({ prefix: 'a}b' }))).message).toMatch(/prefix of the Redis store/);
  });
});

describeWithRedis('a server with limits', () => {
  it('without memory refuses an append, writes nothing of it, and takes it later', async () => {
    const { store } = await opened();
    await store.createDispatch(taskDir, envelope());
    await store.appendEvents(taskDir, dispatchId, growingEvents(2));
    const late = growingEvents(3, 2);
    await command(server().url(), 'CONFIG', 'SET', 'maxmemory', '1');
    const failure = await failureOf(store.appendEvents(taskDir, dispatchId, late));
    await command(server().url(), 'CONFIG', 'SET', 'maxmemory', '0');
    expect(failure).toMatchObject({
      isTransient: false,
      message: expect.stringContaining('has no free memory'),
    });
    expect(idsOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(growingEvents(2)));
    expect(await store.appendEvents(taskDir, dispatchId, late)).toEqual([2, 3, 4]);
  });

  it('may forget its scripts at any time', async () => {
    const { store } = await opened();
    await store.createDispatch(taskDir, envelope());
    for (const round of [0, 1]) {
      await command(server().url(), 'SCRIPT', 'FLUSH');
      expect(await store.appendEvents(taskDir, dispatchId, growingEvents(1, round))).toEqual([round]);
    }
  });
});

describeWithRedis('a server with users', () => {
  it('may give its user only the rights of the README', async () => {
    const { store: owner, prefix } = await opened();
    await owner.createDispatch(taskDir, envelope());
    await owner.appendEvents(taskDir, dispatchId, growingEvents(2));
    await owner.releaseDispatch(taskDir, dispatchId);
    const rights = ['+@read', '+@write', '+@scripting', '+@pubsub', '+@connection', '+info', '+config|get'];
    const on = ['ACL', 'SETUSER', 'limited', 'on', `>${password}`, `~{${prefix}}:*`];
    await command(server().url(), ...on, ...rights);
    const { store } = await opened({ prefix, url: server().url('limited', password) });
    await store.claimDispatch(taskDir, dispatchId);
    const failure = await failureOf(store.appendEvents(taskDir, dispatchId, growingEvents(1, 2)));
    expect(failure).toMatchObject({ isTransient: false, message: expect.stringContaining('channels') });
    expect(failure.printed).not.toContain(password);
    expect(idsOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(growingEvents(2)));
    await command(server().url(), 'ACL', 'SETUSER', 'limited', `&{${prefix}}:changes`);
    expect(await store.appendEvents(taskDir, dispatchId, growingEvents(1, 2))).toEqual([2]);
    const stop = await store.watch({ taskDir }, () => {});
    stop();
    expect(await store.findRemains()).toEqual([]);
    expect((await store.removeRemains()).join('\n')).toContain('BGREWRITEAOF');
    await command(server().url(), 'ACL', 'SETUSER', 'limited', '-config|get');
    const forbidden = await failureOf(opened({ prefix, url: server().url('limited', password) }));
    expect(forbidden.message).toContain('may not run CONFIG GET');
    const other = await opened({ prefix, url: server().url('limited', password), durability: 'process' });
    expect(other.store.capabilities.durability).toBe('process');
  });
});

describeWithRedis('a server of its own', () => {
  it('may be the node of a cluster that keeps the store', async () => {
    const node = await startRedis([
      '--cluster-enabled',
      'yes',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ]);
    onTestFinished(() => node.stop());
    await command(node.url(), 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    for (let state = ''; !state.includes('cluster_state:ok'); )
      state = String(await command(node.url(), 'CLUSTER', 'INFO'));
    const { store } = await opened({ url: node.url() });
    await store.createDispatch(taskDir, envelope());
    await store.appendEvents(taskDir, dispatchId, growingEvents(3));
    await store.rewriteDispatch(taskDir, dispatchId, {
      envelope: (one) => one,
      event: (one) => one,
      notice: () => notice,
    });
    expect((await store.listDispatches()).dispatches).toHaveLength(1);
    expect(await store.searchEvents('e000002')).toHaveLength(1);
    await store.deleteDispatch(taskDir, dispatchId);
    expect(await store.listTasks()).toEqual([]);
  });

  it('that does not answer fails a call within its limit, and closes within five seconds', async () => {
    const proxy = await startProxy(server().port);
    onTestFinished(proxy.close);
    const url = `redis://127.0.0.1:${proxy.port}`;
    const { store } = await opened({ url, commandTimeout: 400, connectTimeout: 400 });
    await store.createDispatch(taskDir, envelope());
    const stop = await store.watch({ taskDir, dispatchId }, () => {});
    proxy.block();
    const start = performance.now();
    const append = failureOf(store.appendEvents(taskDir, dispatchId, growingEvents(1)));
    expect(await append).toMatchObject({ code: 'STORE_UNAVAILABLE', isTransient: true });
    expect((await failureOf(opened({ url, connectTimeout: 300 }))).message).toMatch(/did not answer in time/);
    await store.close();
    expect(performance.now() - start).toBeLessThan(5_000);
    stop();
  });

  it('keeps what it has without an append-only file, where the store promises no more', async () => {
    const plain = await startRedis(['--appendonly', 'no']);
    onTestFinished(() => plain.stop());
    const { store } = await opened({ url: plain.url(), durability: 'process' });
    await store.createDispatch(taskDir, envelope());
    expect(await store.appendEvents(taskDir, dispatchId, growingEvents(2))).toEqual([0, 1]);
    expect(await commands(plain.url(), [['DBSIZE']])).not.toEqual([0]);
  });
});
