import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { durableStores, recordedIn } from './durable-stores.ts';
import { put } from './import-files.ts';

describe.each(durableStores)('seals of sessions in the $name store', (store) => {
  it('are printed as JSON lines, and compared with what the store has', async () => {
    using line = await recordedIn(store);
    const { code, out } = await line.hansard('store', 'seal', 'a/one/D1FIRST');
    expect(code).toBe(0);
    put(line, 'one.seal', out);
    expect(await line.hansard('store', 'verify', '--against', 'one.seal')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Session D1FIRST of a\/one: same, \d+ events?\.\n$/),
    });
  });

  it('say what was continued, what is missing and what was changed, and which line of a file is none', async () => {
    using line = await recordedIn(store);
    const seal = JSON.parse((await line.hansard('store', 'seal', 'a/one/D1FIRST', '--json')).out);
    const file = join(line.cwd, 'others.seal');
    const against = (...seals: readonly object[]) => {
      writeFileSync(file, seals.map((one) => `${JSON.stringify(one)}\n`).join(''));
      return line.hansard('store', 'verify', '--against', 'others.seal');
    };
    const empty = {
      ...seal,
      events: 0,
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    };
    const answer = await against(empty, { ...seal, dispatchId: 'D9' }, { ...empty, events: 1 });
    expect(answer.code).toBe(3);
    expect(answer.out.split('\n')).toEqual([
      `Session D1FIRST of a/one: continued. The seal is of 0 events, which are the same; ${seal.events} more follow.`,
      'Session D9 of a/one: missing. The store has no such session.',
      expect.stringMatching(
        /^Session D1FIRST of a\/one: changed\. It has \d+ events?; the seal is of 1 event, and no redaction is noted\.$/,
      ),
      '',
    ]);
    expect(answer.err).toContain('2 of 3 sessions are not what was sealed.');
    expect(await against(seal, { a: 1 })).toMatchObject({
      code: 2,
      err: expect.stringContaining('others.seal:2 does not have a seal.'),
    });
    expect(await against()).toMatchObject({
      code: 2,
      err: expect.stringContaining('others.seal is empty.'),
    });
  });
});
