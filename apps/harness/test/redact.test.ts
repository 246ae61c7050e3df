import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { durableStores, recordedIn, typed } from './durable-stores.ts';

const token = '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';
const ownKey = 'acme_0123456789abcdef';

/** The files of a store that have one of the secrets in their bytes. */
function filesWithSecrets({ cwd }: CommandLine): string[] {
  return globSync('.projects/**/*', { cwd })
    .filter((file) => statSync(join(cwd, file)).isFile())
    .filter((file) => {
      const bytes = readFileSync(join(cwd, file));
      // The index of words has them in lower case, without the underscore.
      return [token, ownKey, '0123456789abcdef', 'qkjab6mffyvzzxwqmcof49yruxp3wf0lsakp'].some((secret) =>
        bytes.includes(secret),
      );
    });
}

describe.each(durableStores)('hansard secrets redact in the $name store', (store) => {
  /** Besides three dispatches without secrets, D4SECRET of b/two: its second event and its title have some. D5OPEN is running. */
  async function withSecrets(): Promise<CommandLine> {
    const line = await recordedIn(store);
    await using opened = openDispatchStore(store.open(line.cwd));
    const dispatch = await opened.beginDispatch('b/tasks/two', {
      role: 'worker',
      dispatchId: 'D4SECRET',
      title: `publish with ${ownKey}`,
    });
    await dispatch.append(newEvent('agent:text', { text: 'ready' }));
    await dispatch.append(newEvent('agent:text', { text: `${token} and ${token}` }));
    await dispatch.end({ status: 'completed' });
    const name = `publish with ${ownKey}`;
    const created = '2026-03-01T10:00:00.000Z';
    await opened.putTask('b/tasks/two', { slug: 'two', name, project: 'b', status: 'open', created });
    return line;
  }

  const bytes = Buffer.from(Array.from({ length: 600 }, (_, at) => (at * 89) % 256));
  const sha256 = createHash('sha256').update(bytes).digest('hex');

  async function withImage(): Promise<CommandLine> {
    const line = await recordedIn(store);
    await using opened = openDispatchStore(store.open(line.cwd));
    const place = { role: 'worker', dispatchId: 'D6IMAGE', fidelity: 'full' } as const;
    const dispatch = await opened.beginDispatch('b/tasks/image', place);
    const parts = [{ kind: 'image' as const, mediaType: 'image/png', base64: bytes.toString('base64') }];
    await dispatch.append(newEvent('user:message', { text: 'look', source: { kind: 'user' }, parts }));
    await dispatch.end({ status: 'completed' });
    return line;
  }

  it('replaces secrets, which are in no file of the store then, and finds none again', async () => {
    using line = await withSecrets();
    // The words are in the index before.
    expect((await line.hansard('search', 'ready')).out).toContain('D4SECRET');
    expect(filesWithSecrets(line).length).toBeGreaterThan(0);
    const options = ['--pattern', 'acme-key=acme_[0-9a-f]{16}', '--yes'];
    const { code, out, err } = await line.hansard('secrets', 'redact', ...options);
    expect([code, out]).toEqual([
      0,
      'b/two task record: 1 acme-key\nb/two D4SECRET: 1 acme-key, 2 npm-token in 1 event and the envelope\n4 sessions, 1 changed, and 1 task record: 2 acme-key, 2 npm-token replaced.\n',
    ]);
    expect(err.includes('Not covered: the old records of tasks')).toBe(!store.cleans);
    expect(filesWithSecrets(line)).toEqual([]);
    expect((await line.hansard('secrets', 'scan', ...options.slice(0, 2))).code).toBe(0);
    const again = await line.hansard('secrets', 'redact', ...options, '--json');
    expect([again.code, again.json(), again.err]).toEqual([0, [], '4 sessions: no secret was replaced.\n']);
    const events = (await line.hansard('show', 'b/two/D4SECRET', '--raw', '--json')).json() as {
      event: { type: string; data: object };
    }[];
    expect(JSON.stringify(events)).toContain('[REDACTED:npm-token] and [REDACTED:npm-token]');
    expect((await line.hansard('store', 'verify')).code).toBe(0);
    expect((await line.hansard('search', 'ready')).out).toContain('D4SECRET');
    expect((await line.hansard('ls', 'b/two')).out).toContain('[REDACTED:acme-key]');
  });

  it('asks first, and changes nothing without a yes', async () => {
    using line = await withSecrets();
    const before = store.contentOf(line.cwd);
    expect(await line.hansard('secrets', 'redact')).toMatchObject({ code: 2, out: '' });
    const answer = await typed(line, ['secrets', 'redact', 'b/two/D4SECRET'], 'no');
    expect([answer.code, answer.out]).toEqual([0, '']);
    expect(answer.err).toContain('Replace the secrets in the ended sessions of b/two/D4SECRET?');
    expect(store.contentOf(line.cwd)).toBe(before);
    const yes = await typed(line, ['secrets', 'redact', 'b/two/D4SECRET', '--json'], 'y');
    expect(yes.json()).toEqual([
      {
        taskDir: 'b/tasks/two',
        dispatchId: 'D4SECRET',
        counts: { 'npm-token': 2 },
        events: 1,
        hasEnvelope: false,
        letters: 0,
        unread: [],
        kept: {},
        copies: [],
        error: null,
      },
    ]);
  });

  it('removes the bytes of an image by the digits that are shown, and names it', async () => {
    using line = await withImage();
    const scan = await line.hansard('secrets', 'scan', 'b/image');
    expect([scan.code, scan.out]).toEqual([
      0,
      `b/image D6IMAGE: 1 image/png, 600 bytes not read (event 1)\n1 session, 2 events: no secret; 1 image/png, 600 bytes not read.\n`,
    ]);
    const digits = sha256.slice(0, 8);
    const answer = await typed(line, ['secrets', 'redact', 'b/image', '--content', digits], 'y');
    expect(answer.err).toContain(
      'Remove the bytes of 1 image/png, 600 bytes, from the ended sessions of b/image?',
    );
    expect(answer.out).toContain('1 session, 1 changed: 1 content removed.');
    const files = globSync('.projects/**/*', { cwd: line.cwd }).filter((file) =>
      statSync(join(line.cwd, file)).isFile(),
    );
    const places = [bytes.toString('base64').slice(100, 200), bytes.subarray(100, 200)];
    if (store.cleans || store.name === 'JSON-file')
      for (const file of files)
        for (const place of places) expect(readFileSync(join(line.cwd, file)).includes(place)).toBe(false);
    expect((await line.hansard('show', 'b/image')).out).toContain(
      `[image/png 600 bytes, sha256 ${digits}…, removed]`,
    );
    expect((await line.hansard('export', 'b/image', '--as', 'markdown')).out).toContain('removed');
    const again = await line.hansard('secrets', 'redact', '--content', digits, '--yes');
    expect([again.code, again.out]).toEqual([0, '4 sessions: nothing was removed.\n']);
    const none = await line.hansard('secrets', 'redact', '--content', '0'.repeat(8), '--yes');
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining('no image, document or sound with the SHA-256'),
    ]);
    const both = await line.hansard('secrets', 'redact', '--content', digits, '--env', 'HOME', '--yes');
    expect(both.code).toBe(2);
    expect((await line.hansard('secrets', 'redact', '--content', 'abc', '--yes')).code).toBe(2);
  });

  it('cleans what deletions left in unused parts of the store, if there is nothing to replace in dispatches', async () => {
    using line = await withSecrets();
    // Words of a deleted dispatch are in the index, and its pages are free.
    await line.hansard('search', 'ready');
    const opened = store.open(line.cwd);
    opened.deleteDispatch('b/tasks/two', 'D4SECRET');
    opened.close();
    const answer = await line.hansard(
      'secrets',
      'redact',
      '--pattern',
      'acme-key=acme_[0-9a-f]{16}',
      '--yes',
    );
    expect([answer.code, answer.err]).toEqual([
      0,
      store.cleans ? '' : expect.stringContaining('Not covered: the old records of tasks'),
    ]);
    expect(filesWithSecrets(line)).toEqual([]);
  });

  it('skips a running session, and says so', async () => {
    using line = await withSecrets();
    await using opened = openDispatchStore(store.open(line.cwd));
    const dispatch = await opened.beginDispatch('b/tasks/two', { role: 'worker', dispatchId: 'D5OPEN' });
    await dispatch.append(newEvent('agent:text', { text: token }));
    const { code, out, err } = await line.hansard('secrets', 'redact', 'b/two', '--yes');
    expect([code, err.includes('1 session skipped')]).toEqual([1, true]);
    expect(out).toContain('b/two D5OPEN: skipped (it is running, or another process has it)\n');
    expect(out).not.toContain(token);
  });
});
