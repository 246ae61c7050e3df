import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject } from '@hansard/events';
import { isPrompt } from '@hansard/prompt';
import { corpus } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { rowsBefore, treeOf } from './conversation-difference.ts';
import {
  answer,
  call,
  lines,
  outcome,
  prompt,
  readToEnd,
  readTranscript,
  record,
  text,
  uuid,
} from './transcripts.ts';

/** The messages of the records: who said what. */
async function heard(...records: JsonObject[]) {
  const { events } = await readTranscript(lines(...records));
  const messages = events.filter(({ type }) => type === 'user:message');
  return messages.map(({ data }) => [data.source, data.text]);
}

const home = join(import.meta.dirname, '../..');
const system = { kind: 'system' };
const engine = (words: string) => [system, words] as const;
const user = { kind: 'user' };

describe('the words of a user record', () => {
  it.each([
    '[Request interrupted by user]',
    '[Request interrupted by user for tool use]',
    '<bash-stdout>total 0</bash-stdout><bash-stderr></bash-stderr>',
    '<local-command-stdout>Total cost: $1</local-command-stdout>',
    '<ide_opened_file>The user opened shelf.ts.</ide_opened_file>',
    '<system-reminder>\nNever mention llamas.\n</system-reminder>',
  ])('are the words of the engine: %s', async (words) => {
    expect(await heard(prompt(1, words))).toEqual([engine(words)]);
  });

  it.each([
    'What is on the shelf?',
    'It said [Request interrupted by user] again',
    '<command-name>/tidy</command-name> tidies',
    '<command-name>/tidy</command-name><command-name>/tidy</command-name>',
    '<command-args>the top shelf</command-args>',
    'Explain <teammate-message teammate_id="alice">hi</teammate-message> to me',
    '<teammate-message teammate_id="alice">it never ends',
  ])('stay the words of the user: %s', async (words) => {
    expect(await heard(prompt(1, words))).toEqual([[user, words]]);
  });

  it.each([
    [
      '<command-name>/cost</command-name>\n<command-message>cost</command-message>\n<command-args></command-args>',
      '/cost',
      true,
    ],
    ['<command-message>init is running…</command-message>\n<command-name>init</command-name>', '/init', true],
    [
      '<command-name>/tidy</command-name>\n<command-args>the top shelf</command-args>',
      '/tidy the top shelf',
      undefined,
    ],
    ['<bash-input>ls -la</bash-input>', '! ls -la', true],
  ])('are what the user typed, without the markup of a command: %s', async (words, text, command) => {
    const { events } = await readTranscript(lines(prompt(1, words)));
    expect(events[0]?.data).toMatchObject({ text, source: user, wrapped: words });
    expect(events[0]?.data.command).toBe(command);
    expect(isPrompt(events[0] as CapturedEvent)).toBe(command !== true);
    const narrative = await readTranscript(lines(prompt(1, words)), { fidelity: 'narrative' });
    expect(JSON.stringify(narrative.events)).not.toContain('ls -la');
  });

  it.each([
    ['<user-prompt-submit-hook>Be brief.</user-prompt-submit-hook>', 'UserPromptSubmit'],
    ['Stop hook feedback:\nThe floor is wet.', 'Stop'],
  ])('are those of a hook: %s', async (words, hook) => {
    expect(await heard(prompt(1, words, { isMeta: true }))).toEqual([[{ kind: 'system', hook }, words]]);
  });

  it('are those of a hook in an attachment, which the next prompt has, and which a narrative leaves out', async () => {
    const said = (attachment: JsonObject) =>
      record(2, { type: 'attachment', attachment: { hookName: 'PreToolUse:Bash', ...attachment } });
    const source = { kind: 'system', hook: 'PreToolUse:Bash' };
    const context = said({
      type: 'hook_additional_context',
      content: ['Wet.', 'Cold.'],
      rendered: '<r>Wet.</r>',
    });
    const blocking = said({
      type: 'hook_blocking_error',
      blockingError: { blockingError: 'No.', command: 'c' },
    });
    for (const [row, words] of [
      [context, 'Wet.\nCold.'],
      [blocking, 'No.'],
    ] as const) {
      expect((await heard(prompt(1, 'Go.'), row))[1]).toEqual([source, words]);
      const { events } = await readTranscript(lines(prompt(1, 'Go.'), row), { fidelity: 'narrative' });
      expect(JSON.stringify(events)).not.toContain(words);
    }
    const { events } = await readTranscript(lines(prompt(1, 'Go.'), context, answer(3, text('Ok.'))));
    expect(rowsBefore(treeOf(events), uuid(3))).toEqual([uuid(1), uuid(2)]);
    expect(events[1]?.data).toMatchObject({ wrapped: '<r>Wet.</r>' });
    const odd = said({ type: 'hook_additional_context', content: [1] });
    expect((await readTranscript(lines(prompt(1, 'Go.'), odd))).events[1]?.type).toBe('system:hook_response');
  });

  it('are those of the user beside a block that the engine added', async () => {
    const blocks = [text('<ide_selection>owl</ide_selection>'), text('What is it?')];
    const asked = record(1, {
      type: 'user',
      message: { role: 'user', content: blocks },
      origin: { kind: 'human' },
    });
    expect(await heard(asked)).toEqual([
      [system, '<ide_selection>owl</ide_selection>'],
      [user, 'What is it?'],
    ]);
  });

  it.each([
    [{ kind: 'human' }, user],
    [
      { kind: 'channel', server: 'chat' },
      { kind: 'external', what: 'service', name: 'chat' },
    ],
    [
      { kind: 'peer', name: 'ledger', from: 'uds:/tmp/31.sock' },
      { kind: 'external', what: 'session', name: 'ledger' },
    ],
    [
      { kind: 'peer', from: 'scan 03' },
      { kind: 'external', what: 'session', name: 'scan 03' },
    ],
    [
      { kind: 'peer', name: 'scan-03', senderTaskId: 'ascan03' },
      { kind: 'agent', agentId: 'ascan03', name: 'scan-03' },
    ],
    [{ kind: 'task-notification' }, system],
    [
      { kind: 'task-notification', subkind: 'scheduled-trigger' },
      { kind: 'external', what: 'timer' },
    ],
    [{ kind: 'task-notification', subkind: 'external-event' }, { kind: 'external' }],
    [{ kind: 'coordinator' }, system],
    [{ kind: 'auto-continuation' }, system],
    [{ kind: 'slack-ping' }, system],
    [{ kind: 'constructor' }, user],
  ])('are those of the sender that their origin names: %j', async (origin, source) => {
    expect(await heard(prompt(1, 'Hi', { origin }))).toEqual([[source, 'Hi']]);
    const queued = { type: 'queued_command', prompt: 'Hi', commandMode: 'prompt', origin };
    expect(await heard(record(1, { type: 'attachment', attachment: queued }))).toEqual([[source, 'Hi']]);
  });

  it('are the body of a message between agents, and its markup is kept beside', async () => {
    const wrapped = '<agent-message from="scan-03">\nEleven crates.\n</agent-message>';
    const origin = { kind: 'peer', name: 'scan-03', body: 'Eleven crates.' };
    const { events } = await readTranscript(lines(prompt(1, wrapped, { origin })));
    expect(events[0]?.data).toMatchObject({ text: 'Eleven crates.', wrapped, details: { origin } });
  });

  it('are the body of a message of a channel, and the person in it is named', async () => {
    const wrapped = '<channel source="chat" user="ada">\nPears </channel> are in.\n</channel>';
    const { events } = await readTranscript(
      lines(prompt(1, wrapped, { isMeta: true, origin: { kind: 'channel', server: 'chat' } })),
    );
    const source = { kind: 'external', what: 'service', name: 'ada of chat' };
    expect(events[0]?.data).toMatchObject({ text: 'Pears </channel> are in.', wrapped, source });
  });

  it.each([
    [{ turnOrigin: 'scheduled' }, { kind: 'external', what: 'timer' }],
    [{ scheduledTaskId: 't1' }, { kind: 'external', what: 'timer' }],
    [{ turnOrigin: 'peer' }, { kind: 'external', what: 'session' }],
    [{ turnOrigin: 'host_synthetic' }, system],
    [{ turnOrigin: 'human', rowSource: 'harness' }, system],
    [{ turnOrigin: 'human' }, user],
    [{ promptSource: 'sdk' }, user],
  ])('are those of what began the turn, if the record names no origin: %j', async (fields, source) => {
    expect(await heard(prompt(1, 'Hi', fields))).toEqual([[source, 'Hi']]);
  });
});

describe('the messages of teammates', () => {
  const note = (id: string, body: string) =>
    `<teammate-message teammate_id="${id}" color="blue" summary="owls">\n${body}\n</teammate-message>`;

  it('are the words of each teammate, and their signals those of the engine', async () => {
    const signal = '{"type":"idle_notification","from":"bob"}';
    const all = [note('alice', 'There are seven owls.'), note('bob', signal), note('system', 'bob left')];
    const { events } = await readTranscript(lines(prompt(1, all.join('\n\n'))));
    expect(events.map(({ id, data }) => [id, data.source, data.text])).toEqual([
      [uuid(1), { kind: 'agent', name: 'alice' }, 'There are seven owls.'],
      [`${uuid(1)}.1`, system, signal],
      [`${uuid(1)}.2`, system, 'bob left'],
    ]);
    expect(events[0]?.data).toMatchObject({ wrapped: all[0] });
  });

  it('name a teammate as the record does, also if it has a file, and the lead in that file', async () => {
    const side = { isSidechain: true, agentId: 'acount23', timestamp: '2026-03-01T09:30:02.000Z' };
    const { events } = await readTranscript(lines(prompt(1, 'Count.'), prompt(5, note('alice', 'Seven.'))), {
      beside: {
        'session/subagents/agent-acount23.meta.json': JSON.stringify({ agentType: 'general', name: 'alice' }),
        'session/subagents/agent-acount23.jsonl': lines(
          prompt(11, note('team-lead', 'Count the owls.'), { ...side, parentUuid: null }),
          answer(12, text('Seven.'), {}, side),
        ),
      },
    });
    const said = events.filter(({ type }) => type === 'user:message');
    expect(said.map(({ data }) => [data.source, data.text])).toEqual([
      [{ kind: 'user' }, 'Count.'],
      [{ kind: 'agent', name: 'alice' }, 'Seven.'],
      [{ kind: 'agent' }, 'Count the owls.'],
    ]);
    expect(events.find(({ type }) => type === 'agent:created')?.data).toMatchObject({ name: 'alice' });
  });

  it('come after the creation of a teammate, whose call no record names', async () => {
    const side = { isSidechain: true, agentId: 'acount23', timestamp: '2026-03-01T09:30:02.000Z' };
    const meta = { name: 'alice', taskKind: 'in_process_teammate' };
    const { events } = await readTranscript(lines(prompt(1, 'Count.')), {
      beside: {
        'session/subagents/agent-acount23.meta.json': JSON.stringify(meta),
        'session/subagents/agent-acount23.jsonl': lines(
          prompt(11, note('team-lead', 'Count the owls.'), { ...side, parentUuid: null }),
          answer(12, text('Seven.'), {}, side),
        ),
      },
    });
    const own = events.filter(({ agentId }) => agentId === 'acount23');
    expect(own.map(({ type }) => type).slice(0, 3)).toEqual(['agent:created', 'user:message', 'agent:text']);
    expect(own[1]?.cause).toBe(own[0]?.id);
  });

  it('belong to the call that started the teammate, whose result names the teammate, unless two have the name', async () => {
    const spawned = { toolUseResult: { status: 'teammate_spawned', name: 'alice', team_name: 'crew' } };
    const main = lines(
      prompt(1, 'Count.'),
      answer(2, call('c2', 'Agent', { prompt: 'Count the owls.', name: 'alice' })),
      outcome(3, 'c2', 'Spawned successfully.', spawned),
    );
    const fileOf = (agentId: string, number: number) => {
      const side = { isSidechain: true, agentId, timestamp: '2026-03-01T09:30:04.000Z' };
      const meta = { name: 'alice', taskKind: 'in_process_teammate' };
      return {
        [`session/subagents/agent-${agentId}.meta.json`]: JSON.stringify(meta),
        [`session/subagents/agent-${agentId}.jsonl`]: lines(
          prompt(number, note('team-lead', 'Count the owls.'), { ...side, parentUuid: null }),
          answer(number + 1, text('Seven.'), {}, side),
        ),
      };
    };
    const created = async (beside: Readonly<Record<string, string>>) => {
      const { events } = await readTranscript(main, { beside });
      const own = events.filter(({ agentId }) => agentId !== undefined);
      expect(own[0]?.type).toBe('agent:created');
      return events.filter(({ type }) => type === 'agent:created').map(({ cause }) => cause);
    };
    expect(await created(fileOf('a1', 11))).toEqual([uuid(2)]);
    expect(await created({ ...fileOf('a1', 11), ...fileOf('a2', 21) })).toEqual([undefined, undefined]);
  });

  it('have a receiver where SendMessage sent them, and none where it failed', async () => {
    const sends = (number: number, input: JsonObject, fields: JsonObject = {}) => [
      answer(number, call(`c${number}`, 'SendMessage', input)),
      outcome(number + 1, `c${number}`, '{"success":true}', fields),
    ];
    const { events } = await readTranscript(
      lines(
        prompt(1, 'Count.'),
        ...sends(2, { to: 'alice', message: 'Only grey ones.', summary: 'grey' }),
        ...sends(4, { recipient: '@team-lead', content: 'Seven.', type: 'message' }),
        ...sends(6, { to: 'bob', message: 'And you?' }, { toolUseResult: { success: false } }),
        ...sends(8, { to: 'alice', message: { type: 'shutdown_request' } }),
      ),
    );
    const sent = events.filter(({ type }) => type === 'agent:message_sent');
    expect(sent.map(({ id, cause, data }) => [id, cause, data])).toEqual([
      [`${uuid(3)}:sent`, uuid(2), { text: 'Only grey ones.', to: { agent: 'alice' } }],
      [`${uuid(5)}:sent`, uuid(4), { text: 'Seven.', to: { agent: '' } }],
    ]);
  });

  it('are read in time that grows with the text only', async () => {
    const many = '<teammate-message teammate_id="a">'.repeat(40_000);
    const begun = performance.now();
    expect(await heard(prompt(1, many))).toEqual([[user, many]]);
    expect(await heard(prompt(1, `${note('a', 'x')}`.repeat(2_000)))).toHaveLength(2_000);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

/** What a record says, and who says it: written from the notes on speakers, one row for each kind. */
const known: readonly (readonly [words: string, fields: JsonObject, said: string])[] = [
  ['Hi', {}, 'user: Hi'],
  ['Hi', { promptSource: 'system' }, 'system: Hi'],
  ['Hi', { isMeta: true }, 'system: Hi'],
  ['Hi', { isMeta: true, origin: { kind: 'human' } }, 'user: Hi'],
  ['Hi', { origin: { kind: 'plugin' } }, 'system: Hi'],
  ['Hi', { wakeupSource: 'loop' }, 'external timer: Hi'],
  ['Hi', { rowSource: 'hook', turnOrigin: 'scheduled' }, 'system: Hi'],
  ['Hi', { turnOrigin: 'scheduled' }, 'external timer: Hi'],
  ['Hi', { origin: { kind: 'task-notification', subkind: 'scheduled-trigger' } }, 'external timer: Hi'],
  ['Hi', { origin: { kind: 'task-notification', subkind: 'peer-send-message' } }, 'external session: Hi'],
  ['Hi', { origin: { kind: 'task-notification' } }, 'system: Hi'],
  ['Hi', { origin: { kind: 'peer', name: 'till', senderTaskId: 'a7' } }, 'agent till a7: Hi'],
  ['Hi', { origin: { kind: 'peer', from: 'till' } }, 'external session till: Hi'],
  [
    '<agent-message from="till">\nHi\n</agent-message>',
    { origin: { kind: 'peer', name: 'till', senderTaskId: 'a7' } },
    'agent till a7: Hi',
  ],
  [
    '<channel source="c" user="ada">\nHi\n</channel>',
    { isMeta: true, origin: { kind: 'channel', server: 'c' } },
    'external service ada of c: Hi',
  ],
  ['<teammate-message teammate_id="till">Hi</teammate-message>', {}, 'agent till: Hi'],
  ['<teammate-message teammate_id="team-lead">Hi</teammate-message>', {}, 'agent: Hi'],
  ['<teammate-message teammate_id="system">Hi</teammate-message>', {}, 'system: Hi'],
  ['<teammate-message teammate_id="till">{"type":"idle"}</teammate-message>', {}, 'system: {"type":"idle"}'],
  ['Stop hook feedback:\nWet.', { isMeta: true }, 'system Stop: Stop hook feedback:\nWet.'],
  ['Stop hook feedback:\nWet.', {}, 'user: Stop hook feedback:\nWet.'],
  ['<bash-stdout>owl</bash-stdout>', {}, 'system: <bash-stdout>owl</bash-stdout>'],
  ['<bash-input>ls</bash-input>', {}, 'user: ! ls'],
  ['<command-name>/a</command-name><command-args>b</command-args>', {}, 'user: /a b'],
  [
    '<ide_selection>owl</ide_selection>',
    { origin: { kind: 'human' } },
    'system: <ide_selection>owl</ide_selection>',
  ],
  ['[Request interrupted by user]', {}, 'system: [Request interrupted by user]'],
];

/** The first record whose words or speaker are wrong. */
async function wrongRecord(open: typeof openClaudeTranscript): Promise<string | null> {
  for (const [words, fields, said] of known) {
    const { events } = await readTranscript(lines(prompt(1, words, fields)), { open });
    const found = events.map(({ data }) => {
      const { kind, what, name, hook, agentId } = data.source as Record<string, string | undefined>;
      return `${[kind, what, name, hook, agentId].filter(Boolean).join(' ')}: ${data.text}`;
    });
    if (found.length !== 1 || found[0] !== said) return `${said}: ${found.join()}`;
  }
  return null;
}

const speakers = 'map/speakers.ts';
const records = 'map/records.ts';
const mutants: readonly (readonly [
  name: string,
  fault: readonly [file: string, piece: string, instead: string],
])[] = [
  [
    'takes the words of a channel for the engine’s',
    [records, 'if (speaker !== undefined) return speaker;', ''],
  ],
  [
    'takes another session for an agent of this one',
    [
      speakers,
      '...(agentId === undefined ? session :',
      "...(agentId === undefined ? { kind: 'agent' as const } :",
    ],
  ],
  ['drops the task that names an agent', [speakers, 'asId(origin.senderTaskId)', 'undefined']],
  ['drops the name of an agent', [speakers, 'asName(origin.name) ?? asName(origin.from)', 'undefined']],
  ['drops the person in a channel', [speakers, '[person, asName(origin.server)]', '[asName(origin.server)]']],
  ['keeps the markup of a channel', [speakers, "element === null || element.body === ''", 'true']],
  ['keeps the markup of agents', [speakers, 'asText(origin.body)?.trim() || inside || text', 'text']],
  [
    'takes a schedule for the engine',
    [speakers, "['scheduled-trigger', timer]", "['scheduled-trigger', engine]"],
  ],
  ['does not know why a turn began', [speakers, "byTurn.get(asText(record.turnOrigin) ?? '')", 'undefined']],
  [
    'takes a row of the engine for that of its turn',
    [speakers, "record.rowSource === 'harness' ||", 'false &&'],
  ],
  [
    'does not know what woke the session',
    [speakers, 'wakeupSource != null || scheduledTaskId != null', 'false'],
  ],
  ['takes the words of a hook for the engine’s', [records, '...definedOnly({ hook: hookIn(text) })', '']],
  [
    'takes words that a person typed for a hook’s',
    [
      records,
      "if (agent === undefined) return { kind: 'user' };",
      "if (agent === undefined) return { kind: 'user', ...definedOnly({ hook: hookIn(text) }) };",
    ],
  ],
  ['takes a signal for the words of a teammate', [speakers, 'isTeamSignal(body)', 'false']],
  ['takes the lead for a teammate', [speakers, 'teammate === lead', 'false']],
  [
    'takes a shell command for the engine’s',
    [
      speakers,
      'if (command !== null) return [command];',
      'if (command !== null) return [{ ...command, source: engine }];',
    ],
  ],
  ['drops the words of a command', [speakers, "parts.get('command-args') ?? ''", "''"]],
  ['takes what the engine printed for a person’s words', [records, ' || written.test(text)', '']],
  ['takes the editor for a person', [speakers, 'ide_selection|', '']],
  ['takes an interruption for a person’s words', [speakers, '|| isInterruption(text)', '']],
];

describe('the table of speakers', () => {
  it('is what records say', async () => {
    expect(await wrongRecord(openClaudeTranscript)).toBeNull();
  });

  it.each(mutants)('would differ if a reader %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    const { openClaudeTranscript: open } = made as { openClaudeTranscript: typeof openClaudeTranscript };
    expect(await wrongRecord(open)).not.toBeNull();
  });
});

const inputs = ['k21', 'k22', 'k23', 'k24'];
const folder = join(corpus, 'claude-tree');
const isThere = globSync(join(folder, 'right.json')).length > 0;
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';

interface Truth {
  readonly sessions: Record<string, { readonly lastAnswer: string; readonly path: readonly string[] }>;
  readonly speakers: Record<string, string | readonly string[]>;
  readonly says?: Record<string, string | readonly string[]>;
}

/** The name that `right.json` has for a speaker. */
function nameOf({ agentId = '', data, type }: CapturedEvent, names: ReadonlyMap<string, string>): string {
  if (type !== 'user:message') return type === 'agent:tool_result' ? 'tool' : (names.get(agentId) ?? 'model');
  const { kind, what, name, hook, agentId: author } = data.source as Record<string, string | undefined>;
  if (hook !== undefined) return 'hook';
  if (kind === 'agent')
    return `agent:${name ?? (author === undefined ? 'team-lead' : (names.get(author) ?? author))}`;
  if (what === 'service') return `channel:${name?.replace(/^.* of /, '')}`;
  return what === 'session'
    ? `session:${name}`
    : what === 'timer'
      ? 'schedule'
      : kind === 'system'
        ? 'engine'
        : 'user';
}

/** Bodies that the engine writes as JSON, and a tag that an editor writes, are worded freely in `right.json`. */
const isWordedFreely = (words: string) => /^bob |^\(editor\)/.test(words);

describe('recorded shapes of who said what', () => {
  it.skipIf(!isThere).each(inputs)(`%s: each row has its speaker and its words${skipped}`, async (input) => {
    const {
      sessions,
      speakers,
      says = {},
    } = (JSON.parse(readFileSync(join(folder, 'right.json'), 'utf8')) as Record<string, Truth>)[
      input
    ] as Truth;
    const rows: CapturedEvent[] = [];
    for (const [session, { lastAnswer, path }] of Object.entries(sessions)) {
      const [file = ''] = globSync(join(folder, input, 'p/*', `${session}.jsonl`));
      const { events } = await readToEnd(await openClaudeTranscript(file));
      expect(rowsBefore(treeOf(events), lastAnswer)).toEqual(path);
      rows.push(
        ...events.filter(({ type }) =>
          /^(user:message|agent:(text|thinking|tool_call|tool_result))$/.test(type),
        ),
      );
    }
    const names = new Map(input === 'k23' ? [['acount23', 'agent:alice']] : []);
    const authors = new Map([['acount23', 'alice']]);
    const byRow = Map.groupBy(rows, ({ id }) => id.slice(0, 36));
    const found = [...byRow].map(([row, events]) => {
      const all = events.map((event) => nameOf(event, event.type === 'user:message' ? authors : names));
      return [row, all.length === 1 ? all[0] : all] as const;
    });
    expect(Object.fromEntries(found)).toEqual(speakers);
    for (const [row, words] of Object.entries(says)) {
      const said = (byRow.get(row) ?? []).map(({ data }) => data.text);
      const right = [words].flat();
      expect(said.map((one, at) => (isWordedFreely(right[at] ?? '') ? right[at] : one))).toEqual(right);
    }
  });
});
