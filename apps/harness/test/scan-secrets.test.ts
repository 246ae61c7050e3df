import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { durableStores, recordedIn } from './durable-stores.ts';

const token = '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';
const ownKey = 'acme_0123456789abcdef';
const password = 'open, sesame';

describe.each(durableStores)('hansard secrets scan in the $name store', (store) => {
  /** Besides three dispatches without secrets, D4SECRET of b/two: its second event and its title have some. */
  async function withSecrets(): Promise<CommandLine> {
    const line = await recordedIn(store);
    await using opened = openDispatchStore(store.open(line.cwd));
    const dispatch = await opened.beginDispatch('b/tasks/two', {
      role: 'worker',
      dispatchId: 'D4SECRET',
      title: `publish with ${ownKey}`,
    });
    await dispatch.append(newEvent('agent:text', { text: 'ready' }));
    await dispatch.append(newEvent('agent:text', { text: `${token} and ${token}, ${password}` }));
    await dispatch.end({ status: 'completed' });
    return line;
  }

  it('finds nothing where there is nothing', async () => {
    using line = await recordedIn(store);
    expect(await line.hansard('secrets', 'scan')).toMatchObject({
      code: 0,
      out: '3 sessions, 9 events: no secret.\n',
      err: '',
    });
    const asJson = await line.hansard('secrets', 'scan', 'b/two', '--json');
    expect([asJson.code, asJson.err]).toEqual([0, '1 session, 3 events: no secret.\n']);
    expect(asJson.json()).toEqual([
      { scanned: { taskDir: 'b/tasks/two', dispatchId: 'D3OTHER', events: 3, unread: [], error: null } },
    ]);
  });

  it('prints where each secret is and never the secret, and exits with 4', async () => {
    using line = await withSecrets();
    const { code, out, err } = await line.hansard('secrets', 'scan');
    const place = 'b/two D4SECRET event 1 (agent:text) /data/text: npm-token ×2\n';
    expect([code, out]).toEqual([4, `${place}4 sessions, 11 events: 2 secrets (2 npm-token).\n`]);
    const options = ['--pattern', 'acme-key=acme_[0-9a-f]{16}', '--env', 'DOOR'];
    const asJson = await line.start(['secrets', 'scan', 'b/two/D4SECRET', '--json', ...options], {
      signal: new AbortController().signal,
      env: { DOOR: password },
    });
    const found = { taskDir: 'b/tasks/two', dispatchId: 'D4SECRET' };
    const inText = { ...found, position: 1, type: 'agent:text', field: '/data/text' };
    expect(asJson.code).toBe(4);
    expect(asJson.json()).toEqual([
      {
        secret: {
          ...found,
          position: null,
          type: null,
          field: '/title',
          kind: 'acme-key',
          count: 1,
          isKept: false,
        },
      },
      { secret: { ...inText, kind: 'npm-token', count: 2, isKept: false } },
      { secret: { ...inText, kind: 'env-DOOR', count: 1, isKept: false } },
      { scanned: { ...found, events: 2, unread: [], error: null } },
    ]);
    for (const secret of [token, ownKey, password])
      expect([out, err, asJson.out, asJson.err].join('')).not.toContain(secret);
  });

  it('scans only the task or the dispatch that is named', async () => {
    using line = await withSecrets();
    expect(await line.hansard('secrets', 'scan', 'a/one')).toMatchObject({
      code: 0,
      out: '2 sessions, 6 events: no secret.\n',
    });
    expect(await line.hansard('secrets', 'scan', 'b/two/D3OTHER')).toMatchObject({
      code: 0,
      out: '1 session, 3 events: no secret.\n',
    });
    expect((await line.hansard('secrets', 'scan', 'b/two')).out).toContain('D4SECRET');
    expect(await line.hansard('secrets', 'scan', 'b/two/NONE')).toMatchObject({ code: 1, out: '' });
  });

  it('reports a dispatch that cannot be read to its end, without quoting it, and scans the others', async () => {
    using line = await withSecrets();
    store.replaceInEvent(line.cwd, { dispatchId: 'D2SECOND', from: '"item two"', to: `"${token}` });
    const { code, out, err } = await line.hansard('secrets', 'scan');
    expect(code).toBe(3);
    expect(out).toContain('a/one D2SECOND: not read to the end (STORE_CORRUPT)\n');
    expect(out).toContain('b/two D4SECRET event 1 (agent:text) /data/text: npm-token ×2\n');
    expect(out + err).not.toContain(token);
  });

  it.each([['(acme'], ['acme-key=(acme'], ['=acme']])(
    'refuses the pattern %s without quoting it',
    async (pattern) => {
      using line = await recordedIn(store);
      const { code, out, err } = await line.hansard('secrets', 'scan', '--pattern', pattern);
      expect([code, out]).toEqual([2, '']);
      expect(err).not.toContain('(acme');
    },
  );
});
