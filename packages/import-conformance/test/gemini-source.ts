import type { RandomChoices, WrittenRecord } from '../src/index.ts';

type Fields = Record<string, unknown>;

const start = Date.parse('2026-03-01T09:30:00.000Z');
const uuid = (number: number) => `7c9e6679-7425-40de-944b-${String(number).padStart(12, '0')}`;

/** Writes the messages of a session as Gemini CLI does, made after recordings of January 2026 and of 0.61. */
class Session {
  readonly #random: RandomChoices;
  #number = 0;
  #calls = 0;

  constructor(random: RandomChoices) {
    this.#random = random;
  }

  time(): string {
    return new Date(start + this.#number * 1_000).toISOString();
  }

  #message(type: string, fields: Fields): Fields {
    this.#number += 1;
    return { id: uuid(this.#number), timestamp: this.time(), type, ...fields };
  }

  /** `isOld`: the content of a message is a text. */
  prompt(isOld: boolean): Fields {
    const text = this.#random.text();
    const parts: Fields[] = [{ text }];
    if (this.#random.chance(0.2))
      parts.push({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUg==' } });
    const shown = this.#random.chance(0.2) ? { displayContent: [{ text: this.#random.text() }] } : {};
    return this.#message('user', { content: isOld ? text : parts, ...shown });
  }

  note(): Fields {
    return this.#message(this.#random.pick(['info', 'warning', 'error']), { content: this.#random.text() });
  }

  response(call: Fields): Fields {
    const [result] = call.result as Fields[];
    return this.#message('user', { content: [result] });
  }

  /** An answer before its calls have ended, and after it. */
  answer(hasAgents: boolean): Fields[] {
    const thoughts = Array.from({ length: this.#random.below(3) }, () => ({
      subject: this.#random.text(),
      description: this.#random.text(),
      timestamp: this.time(),
    }));
    const [input, cached, output, thought, tool] = [1_000, 100, 10, 2, 0].map(
      (most) => most + this.#random.below(9),
    ) as number[];
    const total = (input ?? 0) + (output ?? 0) + (thought ?? 0) + (tool ?? 0);
    const base = this.#message('gemini', {
      content: this.#random.chance(0.7) ? this.#random.text() : '',
      thoughts,
      tokens: { input, output, cached, thoughts: thought, tool, total },
      model: this.#random.pick(['gemini-2.5-flash', 'gemini-2.5-pro']),
    });
    const calls = Array.from({ length: this.#random.below(3) }, () => this.#call(hasAgents));
    return calls.length === 0 ? [base] : [base, { ...base, toolCalls: calls }];
  }

  #call(hasAgents: boolean): Fields {
    this.#calls += 1;
    const name = this.#random.pick([
      'read_file',
      'run_shell_command',
      'write_file',
      ...(hasAgents ? ['invoke_agent'] : []),
    ]);
    const id = `${name}__call_${this.#calls}`;
    const status = this.#random.pick(['success', 'success', 'error', 'cancelled']);
    const response = status === 'error' ? { error: this.#random.text() } : { output: this.#random.text() };
    const activity = {
      isSubagentProgress: true,
      agentName: 'generalist',
      recentActivity: [
        {
          id: 'c',
          type: 'tool_call',
          content: this.#random.text(),
          displayName: 'Shell',
          description: 'Run',
          args: '{}',
          status: 'completed',
        },
      ],
      state: 'completed',
      result: this.#random.text(),
      terminateReason: 'GOAL',
    };
    return {
      id,
      name,
      args:
        name === 'run_shell_command'
          ? { command: this.#random.text(), description: 'Run it' }
          : { file_path: this.#random.text() },
      result: [{ functionResponse: { id, name, response } }],
      status,
      timestamp: this.time(),
      ...(name === 'invoke_agent' ? { agentId: uuid(900) } : {}),
      resultDisplay: name === 'invoke_agent' ? activity : this.#random.text(),
      description: this.#random.text(),
      displayName: this.#random.pick(['ReadFile', 'Shell']),
      renderOutputAsMarkdown: this.#random.chance(0.5),
    };
  }
}

const metadata = {
  sessionId: uuid(500),
  projectHash: 'ab'.repeat(32),
  startTime: new Date(start).toISOString(),
  lastUpdated: new Date(start).toISOString(),
};

/** The old form: one document, which is written again as a whole. */
export function geminiDocument(random: RandomChoices): WrittenRecord[] {
  const session = new Session(random);
  const messages = [session.prompt(true), ...session.answer(false).slice(-1)];
  while (messages.length < 6 + random.below(6))
    messages.push(
      random.pick([
        () => session.prompt(true),
        () => session.note(),
        () => session.answer(false).at(-1) ?? {},
        () => session.answer(false).at(-1) ?? {},
      ])(),
    );
  const head = {
    ...metadata,
    ...(random.chance(0.3) ? { summary: random.text() } : {}),
    ...(random.chance(0.3) ? { directories: [random.text()] } : {}),
  };
  const layout = ([text = '{}', ...items]: readonly string[]) =>
    `${text.trimEnd().slice(0, -1)},\n  "messages": [\n${items.join(',\n    ')}\n  ]\n}`;
  return [head, ...messages].map((record, at) => ({
    file: 'session-2026-03-01T09-30-7c9e6679.json',
    text: JSON.stringify(record),
    ...(at === 0 ? { layout } : {}),
  }));
}

/** A message as a resume writes it again: without tokens, model, thoughts and calls of its own. */
function again(message: Fields): Fields[] {
  const {
    id,
    timestamp,
    type,
    content,
    thoughts = [],
    toolCalls = [],
  } = message as Fields & { thoughts?: Fields[]; toolCalls?: Fields[] };
  if (type !== 'gemini') return [{ id, timestamp, type, content }];
  const parts = [
    ...thoughts.map(({ subject, description }) => ({ text: `**${subject}** ${description}`, thought: true })),
    ...(content === '' ? [] : [{ text: content }]),
    ...toolCalls.map((call) => ({ functionCall: { id: call.id, name: call.name, args: call.args } })),
  ];
  const responses = toolCalls.flatMap(({ result }) => result as Fields[]);
  return [
    { id, timestamp, type, content: parts },
    ...(responses.length === 0
      ? []
      : [{ id: `${id}_response`, timestamp, type: 'user', content: responses }]),
  ];
}

/** The new form: JSON lines, in which a message comes again with its calls, and a resume writes all messages again. */
export function geminiLines(random: RandomChoices): WrittenRecord[] {
  const session = new Session(random);
  const isSubAgent = random.chance(0.2);
  const head = {
    ...metadata,
    kind: isSubAgent ? 'subagent' : 'main',
    ...(isSubAgent ? { directories: ['/srv/house'] } : {}),
  };
  const context = {
    id: 'd04923d38bb0f6017037e74183378ef4',
    timestamp: session.time(),
    type: 'user',
    content: [{ text: `<session_context>\n${random.text()}\n</session_context>` }],
  };
  const records: Fields[] = [head, { $set: { messages: [context], lastUpdated: session.time() } }];
  const last = new Map<unknown, Fields>();
  const write = (message: Fields) => {
    last.set(message.id, message);
    records.push(message, { $set: { lastUpdated: session.time() } });
  };
  write(session.prompt(false));
  for (let step = 0; step < 2 + random.below(4); step += 1) {
    const kind = random.below(6);
    if (kind === 0) write(session.prompt(false));
    else if (kind === 1) write(session.note());
    else if (kind === 2 && last.size > 2)
      records.push({ $rewindTo: random.chance(0.8) ? random.pick([...last.keys()]) : 'unknown' });
    else {
      const versions = session.answer(true);
      for (const version of versions) write(version);
      for (const call of (versions.at(-1)?.toolCalls ?? []) as Fields[])
        if (random.chance(0.8)) write(session.response(call));
    }
    if (step !== 2) continue;
    records.push(head, { $set: { sessionId: metadata.sessionId } });
    records.push({
      $set: { messages: [context, ...[...last.values()].flatMap(again)], lastUpdated: session.time() },
    });
  }
  if (random.chance(0.4))
    records.push({
      $set: { summary: random.text(), ...(random.chance(0.5) ? { memoryScratchpad: random.text() } : {}) },
    });
  while (records.length < 7) write(session.prompt(false));
  return records.map((record) => ({
    file: 'session-2026-03-01T09-30-7c9e6679.jsonl',
    text: JSON.stringify(record),
  }));
}
