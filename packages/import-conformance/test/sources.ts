import type { RandomChoices, WrittenRecord } from '../src/index.ts';

const start = Date.parse('2026-03-01T09:30:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function write(file: string, records: readonly object[]): WrittenRecord[] {
  return records.map((record) => ({ file, text: JSON.stringify(record) }));
}

const times = <T>(random: RandomChoices, make: (number: number) => T): T[] =>
  Array.from({ length: 7 + random.below(8) }, (_, number) => make(number));

/** A note book of the example importer. */
export function notes(random: RandomChoices): WrittenRecord[] {
  return write(
    'book.jsonl',
    times(random, (number) => ({
      note: `n${number}`,
      book: 'b7',
      at: at(number),
      by: random.pick(['ann', 'bo']),
      kind: random.pick(['said', 'said', 'call', 'result']),
      text: random.text(),
      ...(random.chance(0.4)
        ? { about: { kind: random.pick(['here', 'there']), place: random.text(), tags: [random.text()] } }
        : {}),
      ...(random.chance(0.2) ? { path: 'notes/today.txt' } : {}),
    })),
  );
}

/** A session log of either dialect: agents, messages that carry others, calls and results. */
export function session(dialect: 'v1' | 'v2') {
  return (random: RandomChoices): WrittenRecord[] => {
    const entry = dialect === 'v2' ? { event_type: 'transcript_entry' } : {};
    const [carried, cause] = dialect === 'v2' ? ['substance', 'cause'] : ['utterance_ref', 'caused_by'];
    const agents = ['a1', 'a2'].map((agent_id, number) => ({
      message_id: `c${number}`,
      event_type: 'agent_created',
      agent_id,
      name: `Agent ${number}`,
      language_model: 'm-1',
    }));
    let utterance: string | null = null;
    let call: { agent_id: string; id: string } | null = null;
    const records = times(random, (number) => {
      const message_id = `m${number}`;
      const agent_id = random.pick(['a1', 'a2']);
      if (call !== null) {
        const answered = call;
        call = null;
        const record = {
          agent_id: answered.agent_id,
          role: 'tool',
          tool_call_id: answered.id,
          name: 'look',
          content: random.text(),
        };
        return { message_id, ...entry, ...record };
      }
      if (random.chance(0.3)) {
        call = { agent_id, id: `t${number}` };
        const tool_calls = [
          {
            id: call.id,
            type: 'function',
            function: { name: 'look', arguments: JSON.stringify({ at: random.text() }) },
          },
        ];
        return { message_id, ...entry, agent_id, role: 'assistant', content: random.text(), tool_calls };
      }
      if (utterance !== null && random.chance(0.4)) {
        const links = {
          [carried as string]: utterance,
          ...(dialect === 'v1' ? { [cause as string]: utterance } : {}),
        };
        return { message_id, ...entry, agent_id, role: 'user', content: random.text(), ...links };
      }
      utterance = message_id;
      return { message_id, ...entry, agent_id, role: 'assistant', content: random.text() };
    });
    return write('session.jsonl', [...agents, ...records]);
  };
}

/** A log of smallchat: agents, texts of the person and of agents that messages carry, answers, calls, results and truncations. */
export function smallchat(random: RandomChoices): WrittenRecord[] {
  let id = 0;
  const record = (event_type: string, agent: string, more: object) => {
    id += 1;
    return { message_id: `${id - 1}`, event_type, agent, ...more };
  };
  const entry = (agent: string, role: string, more: object) =>
    record('transcript_entry', agent, { role, ...more });
  const created = (agent: string, parent: string) =>
    record('agent_created', agent, { name: agent, cause: 'user', parent, language_model: 'm-1' });
  const records: object[] = [created('primary', 'user'), created('otto', 'primary')];
  for (let step = 0; step < 4 + random.below(4); step += 1) {
    const content = random.text();
    const agent = random.pick(['primary', 'otto']);
    const place = `${id}`;
    const kind = random.below(4);
    if (kind === 0)
      records.push(
        record('fragment', 'user', { content, cause: 'user' }),
        entry(agent, 'user', { content, substance: place }),
      );
    else if (kind === 1)
      records.push(
        entry(agent, 'assistant', { content }),
        entry('otto', 'user', { content: `[x]: ${content}`, substance: place }),
      );
    else if (kind === 2) {
      const call = { name: 'look', arguments: JSON.stringify({ at: content }) };
      records.push(
        entry(agent, 'assistant', { tool_calls: [{ id: `t${place}`, type: 'function', function: call }] }),
        entry(agent, 'tool', {
          content: random.text(),
          name: 'look',
          tool_call: place,
          tool_call_id: `t${place}`,
        }),
      );
    } else records.push(record('transcript_edit', agent, { action: 'truncate', n: random.below(4) }));
  }
  return write('session.jsonl', records);
}

/** A game log in two files: the game with its chat, and the thoughts. */
export function game(random: RandomChoices): WrittenRecord[] {
  const players = ['Ann', 'Bo', 'Cy'];
  const told = (number: number) => ({ timestamp: at(number), turn: `Day ${1 + Math.floor(number / 5)}` });
  const first = { ...told(0), event_type: 'GAME_START', payload: { players, rule: random.text() } };
  const records = times(random, (number): WrittenRecord => {
    const place = told(number + 1);
    const kind = random.below(4);
    if (kind === 0)
      return {
        file: 'agent_reasoning.jsonl',
        text: JSON.stringify({ ...place, agent: random.pick(players), thinking_process: random.text() }),
      };
    if (kind === 1)
      return {
        file: 'game_events.jsonl',
        text: JSON.stringify({
          ...place,
          event_type: 'VOTE',
          payload: { by: random.pick(players), why: random.text() },
        }),
      };
    return {
      file: 'game_events.jsonl',
      text: JSON.stringify({ ...place, speaker: random.pick(players), message: random.text() }),
    };
  });
  const thoughts = [1, 2, 3, 4].map(() => ({
    ...told(0),
    agent: random.pick(players),
    thinking_process: random.text(),
  }));
  return [...write('game_events.jsonl', [first]), ...write('agent_reasoning.jsonl', thoughts), ...records];
}

/** Makes the rows of a session of Claude Code. Rows of the main agent follow each other. */
class TranscriptRows {
  readonly #random: RandomChoices;
  #parent: string | null = null;
  number = 0;

  constructor(random: RandomChoices) {
    this.#random = random;
  }

  row(fields: object, agentId?: string): object {
    this.number += 1;
    const record = {
      parentUuid: agentId === undefined ? this.#parent : null,
      isSidechain: agentId !== undefined,
      cwd: '/srv/house',
      sessionId: 'session-1',
      version: '2.1.0',
      gitBranch: 'main',
      ...(agentId === undefined ? {} : { agentId }),
      ...fields,
      uuid: uuid(this.number),
      timestamp: at(this.number),
    };
    if (agentId === undefined) this.#parent = record.uuid;
    return record;
  }

  prompt(agentId?: string): object {
    return this.row({ type: 'user', message: { role: 'user', content: this.#random.text() } }, agentId);
  }

  answer(block: object, agentId?: string): object {
    const message = {
      id: `msg_${this.number}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [block],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 1 + this.number },
    };
    return this.row({ type: 'assistant', message }, agentId);
  }

  said(agentId?: string): object {
    return this.answer({ type: 'text', text: this.#random.text() }, agentId);
  }

  call(id: string, name: string): object {
    return this.answer({ type: 'tool_use', id, name, input: { command: this.#random.text() } });
  }

  result(id: string, fields: object = {}): object {
    const block = { type: 'tool_result', tool_use_id: id, content: this.#random.text() };
    return this.row({ type: 'user', message: { role: 'user', content: [block] }, ...fields });
  }

  other(): object {
    return this.row({
      type: 'system',
      subtype: 'informational',
      content: this.#random.text(),
      level: 'info',
    });
  }
}

/** A session of Claude Code, with a sub-agent in a file of its own. */
export function transcript(random: RandomChoices): WrittenRecord[] {
  const rows = new TranscriptRows(random);
  const main = 'session.jsonl';
  const records = write(main, [rows.prompt()]);
  const hasAgent = random.chance(0.5);
  const steps = 6 + random.below(6);
  for (let step = 0; step < steps; step += 1) {
    const kind = random.below(4);
    const id = `toolu_${rows.number}`;
    if (kind === 0) records.push(...write(main, [rows.prompt()]));
    else if (kind === 1) records.push(...write(main, [rows.call(id, 'Bash'), rows.result(id)]));
    else records.push(...write(main, [kind === 2 ? rows.said() : rows.other()]));
    if (!hasAgent || step !== 2) continue;
    records.push(
      ...write(main, [rows.call('toolu_agent', 'Task')]),
      ...write('session/subagents/agent-a1.jsonl', [rows.prompt('a1'), rows.said('a1')]),
      ...write(main, [rows.result('toolu_agent', { toolUseResult: { status: 'completed', agentId: 'a1' } })]),
    );
  }
  return records;
}

/** Makes the messages of a stream of the Agent SDK. */
function streamRows(random: RandomChoices) {
  let number = 0;
  const row = (fields: object) => {
    number += 1;
    return { ...fields, session_id: 'session-1', uuid: uuid(number) };
  };
  const answer = (blocks: readonly object[], more: object = {}) =>
    row({
      type: 'assistant',
      message: {
        ...{ id: `msg_${number}`, type: 'message', role: 'assistant', model: 'claude-test', content: blocks },
        ...{ stop_reason: null, stop_sequence: null, context_management: null },
        usage: {
          ...{ input_tokens: 3, output_tokens: 1 + number },
          ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: random.below(9) },
        },
      },
      parent_tool_use_id: null,
      ...more,
    });
  const result = (id: string, more: object = {}) =>
    row({
      type: 'user',
      message: {
        role: 'user',
        content: [
          { tool_use_id: id, type: 'tool_result', content: random.text(), is_error: random.chance(0.2) },
        ],
      },
      ...{
        parent_tool_use_id: null,
        timestamp: at(number),
        tool_use_result: { stdout: random.text() },
        ...more,
      },
    });
  const called = (id: string, more?: object) =>
    answer(
      [{ type: 'tool_use', id, name: random.pick(['Bash', 'Read']), input: { command: random.text() } }],
      more,
    );
  return { row, answer, result, called, count: () => number };
}

/** A stream of the Agent SDK: one turn, with a call in a sub-agent at times, and its end. */
export function stream(random: RandomChoices): WrittenRecord[] {
  const { row, answer, result, called, count } = streamRows(random);
  const init = { type: 'system', subtype: 'init', cwd: '/srv/house', tools: ['Bash', 'Read', 'Task'] };
  const records = [
    row({
      ...init,
      model: 'claude-test',
      permissionMode: 'default',
      claude_code_version: '2.1.330',
      rule: random.text(),
    }),
    answer([{ type: 'text', text: random.text() }]),
  ];
  for (let step = 0; step < 5 + random.below(6); step += 1) {
    const id = `toolu_${count()}`;
    const kind = random.below(6);
    if (kind === 0)
      records.push(row({ type: 'system', subtype: 'status', status: 'requesting', note: random.text() }));
    else if (kind === 1) records.push(called(id), result(id));
    else if (kind === 2)
      records.push(answer([{ type: 'thinking', thinking: random.text(), signature: random.text() }]));
    else if (kind === 3) {
      const within = { parent_tool_use_id: id, agent_id: `a${count()}` };
      records.push(
        answer([
          { type: 'tool_use', id, name: 'Task', input: { prompt: random.text(), subagent_type: 'tester' } },
        ]),
        answer([{ type: 'text', text: random.text() }], within),
        called(`${id}_s`, within),
        result(`${id}_s`, within),
        result(id),
      );
    } else records.push(answer([{ type: 'text', text: random.text() }]));
  }
  const end = { type: 'result', subtype: 'success', is_error: false, duration_ms: 250, num_turns: 2 };
  const totals = { total_cost_usd: 0.01, usage: { input_tokens: 9, output_tokens: 9 } };
  records.push(row({ ...end, ...totals, result: random.text() }));
  return write('stream.jsonl', records);
}
