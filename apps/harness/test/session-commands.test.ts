import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CapturedEvent } from '@hansard/events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.jsonl`, import.meta.url));

/** Two traders agree on a price; one hears the other altered, and a third trader is denied. */
const traders = 'market/traders';
/** The older dialect. */
const weather = 'market/weather';
/** Two agents of one name. */
const twins = 'market/twins';

interface Row {
  readonly id: string;
  readonly text: string;
}

describe('the commands that read a session', () => {
  let line: CommandLine;
  beforeAll(async () => {
    line = commandLine();
    for (const [name, task] of [
      ['traders-v2', traders],
      ['weather-v1', weather],
      ['twins-v2', twins],
    ] as const)
      expect(await line.hansard('import', fixture(name), '--task', task)).toMatchObject({ code: 0 });
  });
  afterAll(() => line[Symbol.dispose]());

  const rows = async (...args: string[]) => (await line.hansard(...args, '--json')).json() as Row[];
  const ids = async (...args: string[]) => (await rows(...args)).map(({ id }) => id);

  describe('dialog', () => {
    it('draws who said what to whom, for a terminal, for Markdown and as data', async () => {
      const wide = (...args: string[]) =>
        line.start(['dialog', traders, ...args], { signal: new AbortController().signal, columns: 80 });
      const { out: drawn } = await wide('--flow');
      expect(drawn).toMatch(/^ +external .*Ann .*Bo/);
      expect(drawn).toMatch(/●.*[▶◀]/);
      const mermaid = (
        await line.hansard('dialog', traders, '--agent', 'Ann', '--agent', 'Bo', '--flow', 'mermaid')
      ).out;
      expect(mermaid).toMatch(/^sequenceDiagram\n {2}participant p0 as ag#95;root\n/);
      expect(await rows('dialog', traders, '--agent', 'Ann', '--agent', 'Bo', '--flow')).toMatchObject([
        { id: 'm12', to: expect.any(Array), notKnown: [] },
        { id: 'm15' },
        { id: 'm17' },
      ]);
    });

    it('shows each thing said once, with who heard it and how', async () => {
      const { out, code, err } = await line.hansard('dialog', traders, '--agent', 'Ann', '--agent', 'Bo');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.trimEnd().split('\n')).toEqual([
        '  12  ag_root: The market opens.',
        '      heard by Ann, Bo',
        '  15  Ann: Three for a coin. My cellar is number 8812.',
        '      heard by Bo, altered: [Ann]: Three for a coin. My cellar is number ####.',
        '  17  Bo: Two coins for seven.',
        '      heard by Ann (wrapped)',
      ]);
    });

    it('gives the same as rows for programs', async () => {
      expect(await rows('dialog', traders, '--agent', 'Ann', '--agent', 'Bo')).toMatchObject([
        { id: 'm12', kind: 'text', speaker: { kind: 'agent', agentId: 'ag_root' } },
        { id: 'm15', kind: 'utterance', audience: [{ agentId: 'ag_bo', how: 'altered' }] },
        { id: 'm17', kind: 'utterance', audience: [{ agentId: 'ag_ann', how: 'wrapped' }] },
      ]);
    });

    it.each([['ann,bo'], ['ANN , Bo'], ['ag_ann,ag_bo'], ['bo,ag_ann']])(
      'takes agents by name in any letters and by id: %s',
      async (agents) => {
        const named = agents.split(',').flatMap((name) => ['--agent', name.trim()]);
        expect(await ids('dialog', traders, ...named)).toEqual(['m12', 'm15', 'm17']);
      },
    );

    it('has no text that `parts` of a mapping do not make speech, which is a thought of its agent', async () => {
      const mapping = join(line.cwd, 'market.yaml');
      writeFileSync(
        mapping,
        'turn: { events: [game:day] }\ngameEvents: { events: ["game:*"] }\nparts: { tags: { speak: chat } }\n',
      );
      const among = ['--agent', 'Ann', '--agent', 'Bo', '--mapping', mapping];
      // What Bo and Ann received is in the log, but not as the words of an agent.
      expect(await ids('dialog', traders, ...among)).toEqual(['m12', 'm16', 'm18']);
      const seen = await rows('perspective', traders, '--agent', 'bo', '--mapping', 'market.yaml');
      expect(seen.find(({ id }) => id === 'm17')).toMatchObject({ kind: 'thought' });
      const { out } = await line.hansard('heard', traders, '17', '--mapping', 'market.yaml');
      expect(out).not.toContain('same');
    });

    it('is everything that was said where none are chosen, in either dialect', async () => {
      expect(await ids('dialog', traders)).toEqual(['m02', 'm12', 'm15', 'm17', 'm22']);
      expect(await ids('dialog', weather)).toEqual(['n2', 'n7:text', 'n8', 'n10']);
    });
  });

  it('perspective is what one agent went through, in its order', async () => {
    const seen = (await rows('perspective', traders, '--agent', 'bo')) as (Row & { kind: string })[];
    expect(seen.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'm09 heard',
      'm14 heard',
      'm16 heard',
      'm17 said',
    ]);
    const { out } = await line.hansard('perspective', traders, '--agent', 'Bo');
    expect(out).toContain('heard     from Ann (altered): [Ann]: Three for a coin. My cellar is number ####.');
    expect(out).not.toContain('8812');
    expect((await line.hansard('perspective', weather, '--agent', 'gale')).out).toContain(
      'from system: The pressure falls.',
    );
  });

  describe('heard', () => {
    it('is a table of everything said against everybody', async () => {
      const { out } = await line.hansard('heard', traders);
      const all = (
        await line.hansard('show', `${traders}/latest`, '--raw', '--json')
      ).json() as CapturedEvent[];
      const positions = ['m02', 'm12', 'm15', 'm17', 'm22'].map((id) =>
        all.findIndex((event) => event.id === id || event.messageId === id),
      );
      const [head, ...body] = out
        .trimEnd()
        .split('\n')
        .map((row) => row.split(/ {2,}/));
      expect(head).toEqual(['at', 'said by', 'text', 'ag_root', 'Ann', 'Bo']);
      expect(body.map(([at]) => Number(at))).toEqual(positions);
      expect(body[2]?.slice(3)).toEqual(['wrapped', 'said', 'altered']);
      expect(await rows('heard', traders)).toMatchObject([
        { id: 'm02', cells: { ag_root: ['same'] } },
        { id: 'm12' },
        { id: 'm15', cells: { ag_root: ['wrapped'], ag_ann: ['said'], ag_bo: ['altered'] } },
        { id: 'm17' },
        { id: 'm22' },
      ]);
    });

    it('prints everything that one agent knew, with time and source', async () => {
      expect(await ids('heard', traders, '--agent', 'bo')).toEqual(['m09', 'm14', 'm16']);
      expect(await ids('heard', traders, 'm15', '--agent', 'bo')).toEqual(['m09', 'm14']);
      const { out } = await line.hansard('heard', traders, 'm16', '--agent', 'bo');
      expect(out).toContain('Ann said it (15) → Bo heard it altered (16)');
    });

    it('lists the agents that an utterance never reached', async () => {
      expect(await line.hansard('heard', traders, 'm17', '--never')).toMatchObject({
        code: 0,
        out: '(every agent heard it)\n',
      });
      expect((await line.hansard('heard', traders, 'm22', '--never')).out).toBe('Ann\nBo\n');
      expect(await rows('heard', traders, 'm02', '--never')).toMatchObject([
        { agent: { name: 'Ann' }, withheldBy: null },
        { agent: { name: 'Bo' }, withheldBy: null },
      ]);
    });
  });

  it('why leads from an event up to where it all began, effects from it down to the end', async () => {
    const why = await ids('why', traders, 'm17');
    expect(why[0]).toBe('m02');
    expect(why).toEqual(expect.arrayContaining(['m11', 'm15', 'm16', 'm17']));
    expect(why.at(-1)).toBe('m17');
    expect(why).not.toContain('m22');

    const effects = await ids('why', traders, 'm15', '--effects');
    expect(effects[0]).toBe('m15');
    expect(effects).toEqual(expect.arrayContaining(['m16', 'm17', 'm18', 'm19', 'm22']));
    expect(effects).not.toContain('m14');
    expect((await line.hansard('why', traders, 'm16')).out).toMatch(/\d+ +Bo +message .*\n +← substance \d+/);
    expect(await ids('why', weather, 'n9')).toEqual(
      expect.arrayContaining(['n2', 'n3', 'n6', 'n7', 'n8', 'n9']),
    );
  });

  it('diff compares an utterance with each delivery, or with one delivery', async () => {
    const { out } = await line.hansard('heard', traders, 'm15', '--diff');
    expect(out).toContain(
      'Ann → Bo (altered): {+[Ann]: +}Three for a coin. My cellar is number [-8812-]{+####+}.',
    );
    expect(out).toContain('Ann → ag_root (wrapped)');
    expect(await rows('heard', traders, 'm15', '--diff')).toHaveLength(2);
    expect(await rows('heard', traders, 'm16', '--diff')).toMatchObject([{ hearing: { agentId: 'ag_bo' } }]);
  });

  it('tree shows who made whom, with what model', async () => {
    const { out } = await line.hansard('tree', traders);
    expect(out).toMatch(/^ag_root .*maker\/large.*\n├─ Ann +ag_ann .*maker\/small.*\n└─ Bo +ag_bo /m);
    expect(await rows('tree', traders)).toMatchObject([
      {
        sessions: [{ envelope: { taskSlug: 'traders' } }],
        agents: [
          {
            agent: { agentId: 'ag_root' },
            children: [{ agent: { name: 'Ann' } }, { agent: { name: 'Bo' } }],
          },
        ],
      },
    ]);
  });

  it('show --type harness:hook_decision shows who stopped what, and why', async () => {
    const { out } = await line.hansard('show', traders, '--type', 'harness:hook_decision');
    expect(out).toMatch(/ ag_root +call +task +✗ denied\n/);
    expect(out).toMatch(
      /hook Purse denied the tool call: Two traders are enough\.\n +→ Error: Action blocked/,
    );
    const all = (await line.hansard('show', traders, '--raw', '--json')).json() as CapturedEvent[];
    const [, row, ...others] = (await rows(
      'show',
      traders,
      '--type',
      'harness:hook_decision',
    )) as unknown as {
      readonly status: string;
      readonly events: readonly number[];
      readonly decisions: readonly object[];
    }[];
    expect(others).toEqual([]);
    expect(row).toMatchObject({ status: 'denied', decisions: [{ hook: 'Purse', decision: 'deny' }] });
    // The call that was stopped, the decision, and what the agent received instead.
    expect(row?.events.map((position) => all[position]?.id)).toEqual(expect.arrayContaining(['m20', 'm21']));
    expect((await line.hansard('show', weather, '--type', 'harness:hook_decision')).out).toMatch(
      /\(no event passes\)\n$/,
    );
  });

  it('show --raw of a task is all its sessions by time, and no event is missing', async () => {
    using other = commandLine();
    const first = other.hansard('import', fixture('weather-v1'), '--task', 'a/b', '--json');
    const [{ dispatchId }] = (await first).json() as [{ dispatchId: string }];
    await other.hansard('import', fixture('twins-v2'), '--task', 'a/b');
    const placed = (await other.hansard('show', 'a/b', '--raw', '--json')).json() as {
      dispatchId: string;
      position: number;
      timestamp: string | null;
    }[];
    const events = (
      await other.hansard('show', `a/b/${dispatchId}`, '--raw', '--json')
    ).json() as CapturedEvent[];
    const ofFirst = placed.filter((row) => row.dispatchId === dispatchId);
    expect(ofFirst.map(({ dispatchId: _, position: __, ...event }) => event)).toEqual(events);
    expect(ofFirst.map(({ position }) => position)).toEqual(events.map((_event, position) => position));
    expect(new Set(placed.map(({ timestamp }) => timestamp))).toEqual(new Set([null]));
    expect(new Set(placed.map((row) => row.dispatchId)).size).toBe(2);
    const { out } = await other.hansard('show', 'a/b', '--raw');
    expect(out.trimEnd().split('\n')).toHaveLength(placed.length + 1);
    expect(out).toMatch(/^time not recorded\n/);
    expect(out).toMatch(/\(Gale\).*Rain, and then more rain\./);
  });

  describe('two agents of one name', () => {
    it('are distinguished by their ids, and are reported as a diagnostic', async () => {
      const { out, err, code } = await line.hansard('dialog', twins);
      expect(code).toBe(0);
      expect(err).toContain('2 agents are named Kit: ag_kit_1, ag_kit_2.');
      expect(out).toContain('   7  Kit ag_kit_1: I am the first.\n      heard by Kit ag_kit_2 (wrapped)');
      expect(await ids('perspective', twins, '--agent', 'ag_kit_2')).toEqual(['w8', 'w9']);
    });

    it('are asked for by id where the name says too little', async () => {
      const answer = await line.hansard('perspective', twins, '--agent', 'kit');
      expect(answer).toMatchObject({ code: 1, out: '' });
      expect(answer.err).toMatch(
        /2 agents are named "kit": Kit \(ag_kit_1\), Kit \(ag_kit_2\)\.\n.*by its id/,
      );
    });
  });

  it.each([
    [
      'an agent',
      ['perspective', traders, '--agent', 'cid'],
      1,
      /no agent "cid"\.\n.*ag_root, Ann \(ag_ann\), Bo \(ag_bo\)/,
    ],
    [
      'an agent among others',
      ['dialog', traders, '--agent', 'ann', '--agent', 'cid'],
      1,
      /no agent "cid".*\n.*Ann/,
    ],
    ['no agent', ['dialog', traders, '--agent', ''], 1, /no agent ""/],
    ['an agent that heard', ['heard', traders, '--agent', 'cid'], 1, /no agent "cid"/],
    ['an event', ['why', traders, 'm99'], 1, /no event or message m99\.\n.*hansard show/],
    ['an event with effects', ['why', traders, 'm99', '--effects'], 1, /m99/],
    ['something said', ['heard', traders, 'm99', '--diff'], 1, /m99/],
    [
      'an event that is nothing said',
      ['heard', traders, 'm04', '--diff'],
      1,
      /m04 is neither something said nor a delivery of it/,
    ],
    ['a point in time', ['heard', traders, 'm99', '--agent', 'bo'], 1, /m99/],
    ['something never heard', ['heard', traders, 'm99', '--never'], 1, /m99/],
    ['a dispatch', ['dialog', `${traders}/nope`], 1, /no session nope/],
    ['a task', ['show', 'market/none', '--raw'], 1, /no session or task "market\/none"/],
    ['a format to write', ['export', traders, '--as', 'session-v3'], 2, /session-v1, session-v2/],
    ['no format to write', ['export', traders], 2, /--as/],
    [
      'a format to read',
      ['import', fixture('twins-v2'), '--task', 'a/b', '--as', 'csv'],
      2,
      /session-v1, session-v2/,
    ],
    ['a file', ['import', 'nowhere.jsonl', '--task', 'a/b'], 1, /nowhere\.jsonl can't be read/],
    ['no model to resume with', ['chat', '--resume', traders], 2, /--model ID .*a scenario file/],
  ])('reports the known names for an unknown one: %s', async (_what, args, code, message) => {
    const answer = await line.hansard(...args);
    expect(answer.err).toMatch(message);
    expect(answer.err).not.toMatch(/unexpected|\n\s+at /);
    expect(answer).toMatchObject({ code, out: '' });
  });

  it('does not call it a fault of Hansard when --never names nothing that was said', async () => {
    const answer = await line.hansard('heard', traders, 'm04', '--never');
    expect(answer.code).toBe(1);
    expect(answer.err).not.toContain('unexpected');
  });

  it('does not leave --at aside where no agent is named', async () => {
    const upTo = await line.hansard('heard', traders, 'm15');
    expect(upTo.out).not.toContain('m17');
  });
});

describe('import and export', () => {
  it.each([
    ['session-v2', 'traders-v2'],
    ['session-v1', 'weather-v1'],
    ['session-v2', 'twins-v2'],
  ])('a log of %s is written as the same records: %s', async (format, name) => {
    using line = commandLine();
    const [imported] = (await line.hansard('import', fixture(name), '--task', 'a/b', '--json')).json();
    const source = recordsIn(readFileSync(fixture(name), 'utf8'));
    expect(imported).toMatchObject({ format, records: source.length });
    const exported = await line.hansard('export', 'a/b', '--as', format);
    expect(exported).toMatchObject({ code: 0, err: '' });
    expect(recordsIn(exported.out)).toEqual(source);

    writeFileSync(join(line.cwd, 'again.jsonl'), exported.out);
    expect(await line.hansard('import', 'again.jsonl', '--as', format, '--task', 'a/again')).toMatchObject({
      code: 0,
    });
    const events = async (task: string) =>
      ((await line.hansard('show', `${task}/latest`, '--raw', '--json')).json() as CapturedEvent[]).map(
        ({ timestamp: _importedAt, ...event }) => event,
      );
    expect(await events('a/again')).toEqual(await events('a/b'));
  });

  it.each(['session-v1', 'session-v2'])('a file watcher is not a person, also as %s', async (format) => {
    using line = commandLine();
    const scenario = fileURLToPath(new URL('../../../examples/scenarios/event-driven.yaml', import.meta.url));
    expect(await line.hansard('chat', scenario, '--task', 'a/stock')).toMatchObject({ code: 0 });
    const shown = async (task: string) => {
      const { out } = await line.hansard('show', `${task}/latest`, '--raw', '--type', 'user:message');
      return out.split('\n').flatMap((one) => /from [^F]*(?=File changed)/.exec(one)?.[0].trim() ?? []);
    };
    expect(await shown('a/stock')).toEqual(['from external (file)', 'from external (file)']);
    const { out } = await line.hansard('export', 'a/stock', '--as', format);
    const records = recordsIn(out) as { content?: string; source?: string }[];
    const changes = records.filter(({ content }) => String(content).startsWith('File changed'));
    expect(changes.map(({ source }) => source)).toEqual(
      format === 'session-v1' ? ['external', 'external'] : [undefined, undefined],
    );
    writeFileSync(join(line.cwd, 'again.jsonl'), out);
    await line.hansard('import', 'again.jsonl', '--as', format, '--task', 'a/again');
    expect(await shown('a/again')).toEqual(['from external', 'from external']);
  });

  it('a session that was imported has no model calls, and context says so', async () => {
    using line = commandLine();
    await line.hansard('import', fixture('traders-v2'), '--task', 'a/b');
    expect(await line.hansard('context', 'a/b')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/There is no model call\.\n.*imported session logs and games do not/),
    });
  });

  it('a narrative goes out with a note of what it lacks', async () => {
    using line = commandLine();
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    const { code, err } = await line.hansard('export', 'a/b', '--as', 'session-v2');
    expect([code, err]).toEqual([0, expect.stringContaining('recorded as a narrative: tool input')]);
  });

  it('a session that was played goes out and comes back with the same dialog', async () => {
    using line = commandLine();
    const cafe = fileURLToPath(new URL('../../../examples/scenarios/cafe.yaml', import.meta.url));
    expect(await line.hansard('chat', cafe, '--quiet')).toMatchObject({ code: 0 });
    const exported = ['export', 'chat/cafe', '--as', 'session-v2', '--out'] as const;
    expect(await line.hansard(...exported, 'cafe.jsonl', '--extended')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^session-v2: .*cafe\.jsonl\n$/),
      err: expect.stringMatching(/agent:inference omitted/),
    });
    expect((await line.hansard(...exported, 'plain.jsonl')).err).toContain(
      'cause_tool_call_id omitted from 2 records: the schema of session-v2 does not have it there. --extended writes it.',
    );
    expect((await line.hansard('import', 'cafe.jsonl', '--task', 'b/cafe')).err).toBe('');
    const said = async (task: string) =>
      ((await line.hansard('dialog', task, '--json')).json() as Row[]).map(({ text }) => text);
    expect(await said('b/cafe')).toEqual(await said('chat/cafe'));
    const heard = async (task: string) =>
      ((await line.hansard('heard', task, '--json')).json() as { cells: unknown }[]).map(
        ({ cells }) => cells,
      );
    expect(await heard('b/cafe')).toEqual(await heard('chat/cafe'));
  });

  it('import reports each diagnostic with its file and line, and keeps the record', async () => {
    using line = commandLine();
    const text = [
      '{"message_id":"a","event_type":"agent_created","agent_id":"r"}',
      '',
      '{"message_id":"b","event_type":"transcript_entry","agent_id":"r","role":"user","content":"x","substance":"zz"}',
      '{"message_id":"b","event_type":"transcript_entry","agent_id":"ghost","role":"assistant","content":"y"}',
      '{"message_id":"c","event_type":"weather_report","sky":"grey"}',
      'not a record',
    ].join('\n');
    writeFileSync(join(line.cwd, 'odd.jsonl'), `${text}\n`);
    const answer = await line.hansard('import', 'odd.jsonl', '--task', 'a/b', '--as', 'session-v2', '--json');
    expect(answer.code).toBe(0);
    const [{ diagnostics }] = answer.json() as [{ diagnostics: { code: string; line: number }[] }];
    expect(diagnostics.map(({ code, line: at }) => `${at} ${code}`)).toEqual(
      expect.arrayContaining([
        '3 reference_missing',
        '4 id_taken',
        '4 agent_not_created',
        '5 unknown_kind',
        '6 not_json',
      ]),
    );
    for (const { line: at } of diagnostics) expect(answer.err).toContain(`odd.jsonl:${at}: `);
    expect((await line.hansard('show', 'a/b/latest', '--raw')).out).toContain('grey');
  });

  it.each([
    ['nothing', '', 1, /FORMAT_EMPTY: .*empty\.jsonl/],
    [
      'no record',
      'hello\nworld\n',
      2,
      /does not show which format.*\n.*Only logs of the formats that the message lists/,
    ],
  ])('a file with %s is refused without a trace', async (_what, text, code, message) => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'empty.jsonl'), text);
    const answer = await line.hansard('import', 'empty.jsonl', '--task', 'a/b');
    expect(answer).toMatchObject({ code, out: '', err: expect.stringMatching(message) });
    const told = await line.hansard('import', 'empty.jsonl', '--task', 'a/b', '--as', 'session-v2');
    expect(told).toMatchObject({ code: 1, err: expect.stringContaining('FORMAT_NO_RECORDS') });
    expect((await line.hansard('ls', '--json')).json()).toEqual([]);
  });

  it('export never overwrites an existing file', async () => {
    using line = commandLine();
    await line.hansard('import', fixture('weather-v1'), '--task', 'a/b');
    writeFileSync(join(line.cwd, 'mine.jsonl'), 'mine');
    const answer = await line.hansard('export', 'a/b', '--as', 'session-v1', '--out', 'mine.jsonl');
    expect(answer).toMatchObject({ code: 1, err: expect.stringContaining('mine.jsonl') });
    expect(readFileSync(join(line.cwd, 'mine.jsonl'), 'utf8')).toBe('mine');
  });

  it('an imported session can be resumed with a scenario', async () => {
    using line = commandLine();
    await line.hansard('import', fixture('traders-v2'), '--task', 'a/b');
    const scenario = {
      user: ['(heard before)', 'And Cid?'],
      agents: { root: [{ when: { contains: 'Cid' }, say: 'Not today.' }] },
    };
    writeFileSync(join(line.cwd, 'more.yaml'), JSON.stringify(scenario));
    const resumed = await line.hansard('chat', 'more.yaml', '--resume', 'a/b', '--json');
    expect(resumed).toMatchObject({ code: 0 });
    expect(resumed.json()).toMatchObject([{ text: 'Not today.' }]);
    const rows = (await line.hansard('dialog', 'a/b', '--json')).json() as Row[];
    expect(rows.at(-1)?.text).toBe('Not today.');
    expect((await line.hansard('tree', 'a/b')).out).toMatch(/^ag_root/m);
  });
});

function recordsIn(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}
