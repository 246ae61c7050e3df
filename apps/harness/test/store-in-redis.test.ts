import { writeFileSync } from 'node:fs';
import { describeWithRedis, useRedis } from '@hansard/testing/redis-in-tests';
import { expect, it, onTestFinished, vi } from 'vitest';
import { commandLine, demoStream } from './command-line.ts';

const password = 'correct-horse-battery';
const server = useRedis(['--appendonly', 'yes', '--appendfsync', 'always', '--requirepass', password]);

function configured(store: unknown) {
  const line = commandLine();
  onTestFinished(() => line[Symbol.dispose]());
  writeFileSync(`${line.cwd}/hansard.config.json`, JSON.stringify({ communication: [], store }));
  return line;
}

describeWithRedis('a store in Redis', () => {
  it('is named in the configuration, records, and is read by every command', async () => {
    vi.stubEnv('HANSARD_REDIS_URL', server().url('default', password));
    onTestFinished(() => void vi.unstubAllEnvs());
    const line = configured('@hansard/store-redis');
    expect(await line.hansard('run', demoStream('subagent'), '--task', 'a/b', '--quiet')).toMatchObject({
      code: 0,
    });
    expect((await line.hansard('ls')).out).toContain('a.txt has 6 bytes.');
    expect((await line.hansard('show', 'a/b/latest')).out).toContain('a.txt has 6 bytes.');
    expect((await line.hansard('store', 'verify')).code).toBe(0);
    const { out } = await line.hansard('plugins');
    const place = `127.0.0.1:${server().port}/0, prefix hansard`;
    expect(out).toMatch(new RegExp(`server ${place}: Redis \\d+\\.\\d+\\.\\d+, answered in \\d+\\.\\d ms`));
    expect(out).not.toContain(password);
  });

  it.each([
    ['a wrong password', () => server().url('default', `${password}-2`), 'refused the user or its password'],
    ['a server that is away', () => `redis://u:${password}@127.0.0.1:1`, 'cannot be reached'],
    ['a password with a slash', () => `redis://u:${password}/x@127.0.0.1:1`, 'cannot be used'],
  ])('says what is wrong with %s, without the password', async (_, url, reason) => {
    const line = configured({ plugin: '@hansard/store-redis', config: { url: url() } });
    const { out, err } = await line.hansard('plugins');
    expect(out + err).toContain(reason);
    expect(out + err).not.toContain(password);
  });
});
