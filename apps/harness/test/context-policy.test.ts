import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { eventsOf } from './read-back.ts';

const story = 'Once there was a wolf who read the news. '.repeat(20);

/** A chat of nine lines, of which the last six are said after it was resumed. */
async function chatted(policy: string | undefined, more: object = {}) {
  const line = commandLine();
  const write = (lines: number) =>
    writeScenario(line.cwd, 'tale.yaml', {
      user: Array.from({ length: lines }, (_, index) => `Line ${index}.`),
      agents: { root: Array.from({ length: lines }, () => ({ say: story })) },
    });
  const config = policy === undefined ? {} : { context: policy };
  writeFileSync(
    join(line.cwd, 'hansard.config.json'),
    JSON.stringify({ communication: [], ...config, ...more }),
  );
  write(3);
  expect(await line.hansard('chat', 'tale.yaml', '--quiet')).toMatchObject({ code: 0, err: /Recorded/ });
  write(9);
  expect(await line.hansard('chat', '--resume', 'chat/tale', '--quiet')).toMatchObject({ code: 0 });
  return line;
}

describe('"context" in the configuration', () => {
  it.each([
    [undefined, 'policy   full', 17],
    ['full', 'policy   full', 17],
    ['last:4', 'policy   lastMessages, count 4', 5],
    ['faded:600:100', 'policy   faded, budget 600, reserve 100', null],
  ])('is what models see, in chat and after resume: %s', async (policy, shown, messages) => {
    using line = await chatted(policy);
    const { out } = await line.hansard('context', 'chat/tale');
    expect(out).toContain(shown);
    if (messages !== null) expect(out).toContain(`prompt   ${messages} messages`);
    expect(await line.hansard('context', 'chat/tale', '--verify')).toMatchObject({ code: 0 });
    const policies = (await eventsOf(line, 'chat/tale')).flatMap(({ type, data }) =>
      type === 'agent:inference'
        ? [JSON.stringify((data as { context: { policy: object } }).context.policy)]
        : [],
    );
    expect(new Set(policies)).toHaveLength(1);
    expect(policies).toHaveLength(9);
  });

  it.each([
    [undefined, 'policy   full, images sent'],
    ['last:4', 'policy   lastMessages, count 4, images sent'],
  ])('has the images that agents observe if "images" is true: %s', async (policy, shown) => {
    using line = await chatted(policy, { images: true });
    expect((await line.hansard('context', 'chat/tale')).out).toContain(shown);
    expect(await line.hansard('context', 'chat/tale', '--verify')).toMatchObject({ code: 0 });
  });

  it.each(['last', 'faded:many', 'full:2', 'faded:0', ''])(
    'says how to write it where it is %j',
    async (policy) => {
      using line = commandLine();
      writeFileSync(join(line.cwd, 'hansard.config.json'), JSON.stringify({ context: policy }));
      const { code, err } = await line.hansard('ls');
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(
          /context.*Write full, last:MESSAGES, faded:TOKENS or faded:TOKENS:RESERVE/,
        ),
      });
    },
  );
});
