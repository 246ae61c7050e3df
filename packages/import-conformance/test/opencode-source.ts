import type { RandomChoices, WrittenRecord } from '../src/index.ts';
import { databaseOf } from './database-layout.ts';

type Fields = Record<string, unknown>;

const start = Date.parse('2026-03-01T09:30:00.000Z');
const sessionId = (number: number) => `ses_debf333edffe${number}ZLedkRGX`;

const times = 'time_created integer, time_updated integer';
const definitions = {
  session: `id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, ${times}`,
  message: `id text PRIMARY KEY, session_id text, ${times}, data text`,
  part: `id text PRIMARY KEY, message_id text, session_id text, ${times}, data text`,
  event: 'id text, aggregate_id text, seq integer, type text, data text',
  todo: `session_id text, content text, status text, priority text, position integer, ${times}`,
};

/** Writes the rows of a database as OpenCode does, made after a recording of 1.18. */
class Rows {
  readonly list: Fields[] = [];
  readonly #random: RandomChoices;
  #number = 0;

  constructor(random: RandomChoices) {
    this.#random = random;
  }

  #id(prefix: string): string {
    this.#number += 1;
    return `${prefix}_2140${String(this.#number).padStart(6, '0')}001Dve5c8w9PP`;
  }

  #time(): number {
    return start + this.#number * 1_000;
  }

  #some(fields: Fields): Fields {
    return Object.fromEntries(Object.entries(fields).filter(() => this.#random.chance(0.5)));
  }

  session(number: number, parent: string | null): void {
    const figures = [
      'cost',
      'tokens_input',
      'tokens_output',
      'tokens_reasoning',
      'tokens_cache_read',
      'tokens_cache_write',
      'summary_additions',
      'summary_deletions',
      'summary_files',
    ];
    this.list.push({
      id: sessionId(number),
      project_id: 'f121c2e6',
      parent_id: parent,
      slug: this.#random.text(),
      directory: '/srv/shop',
      path: '',
      title: this.#random.text(),
      version: '1.18.33',
      ...Object.fromEntries(figures.map((name) => [name, this.#random.below(100)])),
      ...this.#some({
        permission: [{ permission: this.#random.text(), pattern: '*', action: 'deny' }],
        revert: { messageID: this.#random.text() },
      }),
      agent: 'build',
      model: { id: 'shop-1', providerID: 'scripted', variant: 'default' },
      time_created: this.#time(),
      time_updated: this.#time(),
      ...this.#some({
        workspace_id: null,
        share_url: null,
        summary_diffs: null,
        metadata: null,
        time_compacting: null,
        time_archived: null,
      }),
    });
  }

  #row(id: string, session: string, data: Fields, more: Fields = {}): void {
    this.list.push({
      id,
      ...more,
      session_id: session,
      time_created: this.#time(),
      time_updated: this.#time(),
      data,
    });
  }

  #part(message: string, session: string, data: Fields): void {
    this.#row(this.#id('prt'), session, data, { message_id: message });
  }

  #span(): Fields {
    return { start: this.#time(), end: this.#time() + 5 };
  }

  prompt(session: string): string {
    const id = this.#id('msg');
    this.#row(id, session, {
      role: 'user',
      time: { created: this.#time() },
      agent: 'build',
      model: { providerID: 'scripted', modelID: 'shop-1' },
      summary: { diffs: this.#random.chance(0.3) ? [{ file: this.#random.text() }] : [] },
    });
    this.#part(id, session, {
      type: 'text',
      text: this.#random.text(),
      ...(this.#random.chance(0.3) ? { synthetic: true } : {}),
    });
    if (this.#random.chance(0.2))
      this.#part(id, session, {
        type: 'file',
        mime: 'image/png',
        filename: this.#random.text(),
        url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==',
      });
    if (this.#random.chance(0.2))
      this.#part(id, session, {
        type: this.#random.pick(['agent', 'subtask', 'patch', 'snapshot', 'retry']),
        name: this.#random.text(),
      });
    if (this.#random.chance(0.1))
      this.#part(id, session, { type: 'compaction', auto: this.#random.chance(0.5) });
    return id;
  }

  #used(): Fields {
    const [input = 0, output = 0, reasoning = 0, read = 0, write = 0] = [1_000, 10, 0, 100, 0].map(
      (most) => most + this.#random.below(9),
    );
    return {
      tokens: {
        total: input + output + reasoning + read + write,
        input,
        output,
        reasoning,
        cache: { write, read },
      },
      cost: this.#random.below(9) / 1_000,
    };
  }

  answer(session: string, parent: string): void {
    const id = this.#id('msg');
    const isDone = this.#random.chance(0.9);
    const used = this.#used();
    this.#row(id, session, {
      parentID: parent,
      role: 'assistant',
      mode: 'build',
      agent: 'build',
      path: { cwd: '/srv/shop', root: '/srv/shop' },
      ...(isDone
        ? used
        : { tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }, cost: 0 }),
      modelID: 'shop-1',
      providerID: 'scripted',
      time: { created: this.#time(), ...(isDone ? { completed: this.#time() } : {}) },
      ...(isDone ? { finish: 'stop' } : {}),
      ...(this.#random.chance(0.1)
        ? { error: { name: 'MessageAbortedError', data: { message: this.#random.text() } } }
        : {}),
    });
    this.#part(id, session, { snapshot: this.#random.text(), type: 'step-start' });
    if (this.#random.chance(0.4))
      this.#part(id, session, { type: 'reasoning', text: this.#random.text(), time: this.#span() });
    this.#part(id, session, {
      type: 'text',
      text: isDone ? this.#random.text() : '',
      time: isDone ? this.#span() : { start: this.#time() },
    });
    for (let call = 0; call < this.#random.below(3); call += 1) this.#part(id, session, this.#tool());
    if (isDone)
      this.#part(id, session, {
        reason: 'stop',
        snapshot: this.#random.text(),
        type: 'step-finish',
        ...used,
      });
  }

  #tool(): Fields {
    const tool = this.#random.pick(['read', 'bash', 'task']);
    const status = this.#random.pick(['completed', 'completed', 'error', 'running', 'pending']);
    const text = this.#random.text();
    const input = {
      read: { filePath: this.#random.text() },
      bash: { command: this.#random.text(), description: 'Run it' },
      task: { description: this.#random.text(), prompt: this.#random.text(), subagent_type: 'general' },
    }[tool];
    const metadata = {
      read: {
        preview: text,
        truncated: false,
        loaded: [],
        display: {
          type: 'file',
          path: '/srv/a',
          text,
          lineStart: 1,
          lineEnd: 3,
          totalLines: 3,
          truncated: false,
        },
      },
      bash: { output: text, exit: this.#random.pick([0, 3]), truncated: false },
      task: {
        parentSessionId: sessionId(1),
        sessionId: sessionId(2),
        model: { modelID: 'shop-1', providerID: 'scripted' },
        truncated: false,
      },
    }[tool];
    const ended =
      status === 'completed'
        ? { output: text, metadata, title: this.#random.text() }
        : status === 'error'
          ? { error: this.#random.text() }
          : {};
    return {
      type: 'tool',
      tool,
      callID: `call_${this.#number}`,
      state: {
        status,
        input: status === 'pending' ? {} : input,
        ...ended,
        time: status === 'running' ? { start: this.#time() } : this.#span(),
      },
    };
  }

  todo(session: string, position: number): void {
    const text = this.#random.text();
    this.list.push({
      session_id: session,
      content: text,
      status: 'pending',
      priority: 'high',
      position,
      time_created: this.#time(),
      time_updated: this.#time(),
    });
  }

  event(session: string): void {
    this.list.push({
      id: this.#id('evt'),
      aggregate_id: session,
      seq: this.#number,
      type: 'message.updated.1',
      data: { note: this.#random.text() },
    });
  }
}

const tableOf = (row: Fields) => {
  if ('slug' in row) return 'session';
  if ('message_id' in row) return 'part';
  if ('aggregate_id' in row) return 'event';
  return 'position' in row ? 'todo' : 'message';
};

export function openCodeDatabase(random: RandomChoices): WrittenRecord[] {
  const rows = new Rows(random);
  rows.session(1, null);
  const prompt = rows.prompt(sessionId(1));
  rows.answer(sessionId(1), prompt);
  const count = 1 + random.below(2);
  if (count === 2) rows.session(2, sessionId(1));
  for (let step = 0; step < 2 + random.below(3); step += 1) {
    const session = sessionId(1 + random.below(count));
    rows.answer(session, rows.prompt(session));
    if (random.chance(0.3)) rows.todo(session, step);
    if (random.chance(0.3)) rows.event(session);
  }
  const layout = (texts: readonly string[]) =>
    databaseOf(texts, definitions, tableOf, (value) => ({
      id: 'msg_damaged_1',
      session_id: sessionId(1),
      data: JSON.stringify(value),
    }));
  return rows.list.map((row, at) => ({
    file: 'opencode.db',
    text: JSON.stringify(row),
    ...(at === 0 ? { layout } : {}),
  }));
}
