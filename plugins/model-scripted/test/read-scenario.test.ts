import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readScenario } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-scenario-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'cafe.yaml');

function read(...lines: string[]) {
  writeFileSync(path, lines.join('\n'));
  return readScenario(path);
}

describe('a scenario file', () => {
  it('is read with its defaults filled in', async () => {
    const scenario = await read(
      'title: In a café',
      'hooks:',
      '  - plugin: "@hansard/hook-limits"',
      '    config: { maxAgents: 2 }',
      'user:',
      '  - Begin.',
      '  - { text: The clock strikes., source: system }',
      '  - { text: The file changed., source: external, what: file }',
      'agents:',
      '  root:',
      '    - say: yes',
      '    - { call: [{ tool: look }], delayMs: 5 }',
    );
    expect(scenario).toEqual({
      title: 'In a café',
      hooks: [{ plugin: '@hansard/hook-limits', config: { maxAgents: 2 } }],
      user: [
        { text: 'Begin.', source: { kind: 'user' } },
        { text: 'The clock strikes.', source: { kind: 'system' } },
        { text: 'The file changed.', source: { kind: 'external', what: 'file' } },
      ],
      agents: {
        root: [
          {
            say: 'yes',
            repeat: false,
            stream: false,
            delayMs: 0,
            usage: { inputTokens: 0, outputTokens: 0 },
          },
          {
            call: [{ tool: 'look', input: {} }],
            repeat: false,
            stream: false,
            delayMs: 5,
            usage: { inputTokens: 0, outputTokens: 0 },
          },
        ],
      },
    });
  });

  it('can be written as the README shows', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const { agents, user } = await read(/```yaml\n(.*?)```/s.exec(readme)?.[1] ?? '');
    expect(agents.Jill).toMatchObject([{ think: 'Somebody is there.', say: 'Hello!', stream: true }]);
    expect(agents.root).toHaveLength(4);
    expect(user.map(({ source }) => source)).toEqual([{ kind: 'user' }, { kind: 'external', what: 'timer' }]);
  });

  it('that is not there is an error that names it', async () => {
    await expect(readScenario(join(folder, 'none.yaml'))).rejects.toMatchObject({
      code: 'SCENARIO_UNREADABLE',
      message: expect.stringContaining('none.yaml'),
      cause: { code: 'ENOENT' },
    });
  });

  it.each<[string, string[], string]>([
    ['is empty', [''], ':1: (value) is null'],
    ['is no YAML', ['agents:', '  root: [{ say: hi }'], ':2: '],
    ['has a key twice', ['agents: {}', 'agents: {}'], ':2: Map keys must be unique'],
    ['has an alias that leads nowhere', ['agents: *none'], 'none'],
    ['has an unknown tag', ['agents: {}', 'title: !loud hello'], ':2: Unresolved tag: !loud'],
    ['has no agents', ['title: x'], ':1: agents is missing'],
    ['has a field that there is not', ['agents:', '  root:', '    - sya: hi'], ':3: agents.root[0] is'],
    [
      'has a turn without an answer',
      ['agents:', '  root:', '    - say: hi', '    - think: hm'],
      ':4: agents.root[1] is {"think":"hm"',
    ],
    [
      'has a turn with two answers',
      ['agents:', '  root:', '    - say: hi', '      error: no'],
      'needs one of say, call and error',
    ],
    [
      'has text beside nothing',
      ['agents:', '  root:', '    - say: hi', '      text: hm'],
      ':4: agents.root[0].text is "hm"',
    ],
    [
      'thinks before it fails',
      ['agents:', '  root:', '    - { error: no, think: hm }'],
      ':3: agents.root[0].think is "hm"',
    ],
    [
      'has a wrong regex',
      ['agents:', '  root:', '    - say: hi', '      when: { regex: "(" }'],
      ':4: agents.root[0].when.regex is "(": not a regular expression',
    ],
    [
      'has a matcher of two kinds',
      ['agents:', '  root:', '    - say: hi', '      when: { regex: a, contains: b }'],
      'needs one of contains and regex',
    ],
    [
      'has a delay that no timer can wait',
      ['agents:', '  root:', '    - { say: hi, delayMs: 1e10 }'],
      ':3: agents.root[0].delayMs is 10000000000',
    ],
    [
      'has an input that is not JSON',
      ['agents:', '  root:', '    - call: [{ tool: x, input: .nan }]'],
      ':3: agents.root[0].call[0].input is NaN: not a JSON value',
    ],
    ['has a user who says a number', ['user:', '  - 12', 'agents: {}'], ':2: user[0] is 12'],
  ])('that %s is an error with file, line and path', async (_what, lines, told) => {
    await expect(read(...lines)).rejects.toMatchObject({
      code: 'SCENARIO_INVALID',
      message: expect.stringContaining(told),
    });
    await expect(readScenario(path)).rejects.toThrow(path);
  });

  it('with several faults is refused with all of them, each with its line', async () => {
    await expect(
      read('agents:', '  root:', '    - { say: hi, delayMs: -1 }', '  jill:', '    - say: 12'),
    ).rejects.toMatchObject({
      details: { faults: [{ place: `${path}:3` }, { place: `${path}:5` }] },
    });
  });
});
