import type { LoadedMessage } from './smallchat-loader.ts';

/** A log with what it says: the transcripts at its end, and who received each text. */
export interface WrittenSmallchat {
  readonly text: string;
  readonly transcripts: ReadonlyMap<string, readonly LoadedMessage[]>;
  /** `RECEIVER:ENTRY`, by the id of each text of an agent. */
  readonly heard: ReadonlyMap<string, readonly string[]>;
}

interface Agent {
  readonly id: string;
  readonly name: string;
  readonly isHook: boolean;
  readonly children: Agent[];
  readonly hooks: Agent[];
  transcript: LoadedMessage[];
  speakers: Agent[];
  listeners: Agent[];
}

type Fields = Readonly<Record<string, unknown>>;

const words = [
  'wall',
  'Größe',
  '🙂',
  'two\nlines',
  '"quoted"',
  'tab\t',
  'back\\slash',
  '\u007f',
  '/',
  '7',
  '',
];
const names = ['Mara', 'otto', 'Otto!', 'User', 'Smith Jr.', 'Ünal', '3 Bees', 'hook'];

/** Random sessions of smallchat, written after the note about its format, with nothing of the code that they test. */
export class SmallchatWriter {
  readonly #random: () => number;
  readonly #ids = new Set(['user']);
  readonly #heard = new Map<string, string[]>();
  readonly #agents: Agent[] = [];
  readonly #isDump: boolean;
  #text = '';
  #next = 0;
  #calls = 0;
  #names = 0;
  #depth = 0;

  constructor(random: () => number) {
    this.#random = random;
    this.#isDump = random() < 0.5;
  }

  write(turns: number): WrittenSmallchat {
    const primary = this.#create('Primary', 'primary', { cause: 'user', parent: 'user' });
    for (let turn = 0; turn < turns; turn += 1) {
      if (this.#chance(0.15))
        this.#truncate(this.#pick(this.#agents), this.#below(9) - (this.#chance(0.2) ? 4 : 0));
      const content = this.#words();
      const fragment = this.#line('fragment', 'user', { content, cause: 'user' });
      this.#entry(primary, { role: 'user', content }, { substance: fragment });
      if (this.#chance(0.9)) this.#answer(primary);
    }
    const transcripts = new Map(this.#agents.map(({ id, transcript }) => [id, transcript]));
    return { text: this.#text, transcripts, heard: this.#heard };
  }

  #answer(agent: Agent): string {
    this.#depth += 1;
    let answer = this.#turn(agent);
    for (const hook of agent.hooks)
      if (this.#review(agent, hook)) {
        answer = this.#turn(agent);
        break;
      }
    this.#depth -= 1;
    return answer;
  }

  /** One turn: answers with calls, and the last answer. Returns its id. */
  #turn(agent: Agent): string {
    for (let step = 0; step < 2 && this.#depth < 4 && !agent.isHook && this.#chance(0.6); step += 1) {
      const count = 1 + this.#below(2);
      const plans = Array.from({ length: count }, () => this.#plan(agent));
      const calls = plans.map(({ name, input }) => ({
        id: this.#callId(),
        name,
        arguments: this.#json(input),
      }));
      const content = this.#chance(0.3) ? { content: this.#words() } : {};
      const entry = this.#entry(agent, { role: 'assistant', ...content, tool_calls: calls }, {});
      for (const [at, { run }] of plans.entries()) {
        const id = calls[at]?.id ?? '';
        // A tool that raises ends the program: the log continues with the next text of the person.
        const { content: result, link } = run(`${entry}.${id}`);
        const name = calls[at]?.name ?? '';
        const said = { role: 'tool', content: result, name, tool_call_id: id };
        this.#entry(agent, said, { ...link, tool_call: entry });
      }
    }
    const content = this.#chance(0.05) ? {} : { content: this.#words() };
    return this.#entry(agent, { role: 'assistant', ...content }, {});
  }

  #plan(agent: Agent): {
    name: string;
    input: Fields;
    run: (cause: string) => { content: string; link: Fields };
  } {
    const kind = this.#below(agent.children.length > 0 ? 4 : 2);
    if (kind === 0) {
      const instructions = this.#words();
      return {
        name: 'hook',
        input: { instructions },
        run: (cause) => this.#hook(agent, instructions, cause),
      };
    }
    if (kind === 1) {
      this.#names += 1;
      const name = `${this.#pick(names)}${this.#names}`;
      const [system, prompt] = [this.#words(), this.#chance(0.5) ? this.#words() : undefined];
      const input = { name, system_prompt: system, ...(prompt === undefined ? {} : { user_prompt: prompt }) };
      return { name: 'task', input, run: (cause) => this.#task(agent, { name, system, prompt }, cause) };
    }
    const speakers = this.#some(agent.children);
    const listeners = this.#chance(0.4) ? this.#some(agent.children) : [];
    const prompt = this.#chance(0.7) ? this.#words() : undefined;
    const input = {
      ...(prompt === undefined ? {} : { prompt }),
      speakers: speakers.map(({ name }) => name),
      listeners: listeners.map(({ name }) => name),
    };
    return {
      name: 'discuss',
      input,
      run: (cause) => this.#discuss(agent, { speakers, listeners, prompt }, cause),
    };
  }

  #hook(agent: Agent, instructions: string, cause: string): { content: string; link: Fields } {
    const hook = this.#create('hook_', 'hook', { cause, parent: agent.id });
    agent.hooks.push(hook);
    this.#entry(hook, { role: 'system', content: 'You judge.' }, {});
    this.#entry(hook, { role: 'user', content: instructions }, {});
    return { content: 'None', link: {} };
  }

  #task(
    agent: Agent,
    { name, system, prompt }: { name: string; system: string; prompt: string | undefined },
    cause: string,
  ): { content: string; link: Fields } {
    const child = this.#create(name, 'child', { cause, parent: agent.id });
    agent.children.push(child);
    this.#entry(child, { role: 'system', content: system }, { cause: [cause] });
    if (prompt === undefined)
      return { content: this.#json({ subagents: agent.children.map((one) => one.name) }), link: {} };
    const fragment = this.#line('fragment', agent.id, { content: prompt, cause });
    this.#entry(child, { role: 'user', content: prompt }, { substance: fragment });
    const answer = this.#answer(child);
    return { content: this.#said(child), link: { substance: answer } };
  }

  #discuss(
    agent: Agent,
    { speakers, listeners, prompt }: { speakers: Agent[]; listeners: Agent[]; prompt: string | undefined },
    cause: string,
  ): { content: string; link: Fields } {
    const all = [...new Set([...speakers, ...listeners])];
    if (prompt !== undefined) {
      const fragment = this.#line('fragment', agent.id, { content: prompt, cause });
      for (const one of all) this.#entry(one, { role: 'user', content: prompt }, { substance: fragment });
    }
    const answers = speakers.map((speaker) => {
      const id = this.#answer(speaker);
      const text = `[${speaker.name}]: ${this.#said(speaker)}`;
      for (const other of all)
        if (other !== speaker) this.#entry(other, { role: 'user', content: text }, { substance: id });
      return { id, text, bare: this.#said(speaker) };
    });
    const isAlone = speakers.length === 1 && listeners.length === 0;
    const content = isAlone ? `${answers[0]?.bare}` : answers.map(({ text }) => text).join('\n\n');
    return { content, link: { cause: answers.map(({ id }) => id) } };
  }

  /** Whether the hook rejects the answer. */
  #review(agent: Agent, hook: Agent): boolean {
    const { length } = hook.transcript;
    const call = { id: 'ephemeral_1', name: 'read_log', arguments: '{"n": -1}' };
    const read = { role: 'assistant', content: 'Reading the last request/response pair', tool_calls: [call] };
    this.#entry(hook, read, {}, true);
    const response = this.#json({ request: 'x', response: 'y', n: 0 });
    this.#entry(hook, { role: 'tool', content: response, name: 'read_log', tool_call_id: 'ephemeral_1' }, {});
    const isRejected = this.#chance(0.3);
    const reason = this.#words();
    if (isRejected) {
      const rejecting = { id: this.#callId(), name: 'reject', arguments: this.#json({ reason }) };
      const entry = this.#entry(hook, { role: 'assistant', tool_calls: [rejecting] }, {});
      const result = {
        role: 'tool',
        content: 'response status: denied',
        name: 'reject',
        tool_call_id: rejecting.id,
      };
      this.#entry(hook, result, { tool_call: entry });
    }
    this.#entry(hook, { role: 'assistant', content: 'OK' }, {});
    this.#truncate(hook, length);
    if (isRejected) this.#entry(agent, { role: 'user', content: `<system>${reason}</system>` }, {});
    return isRejected;
  }

  #truncate(agent: Agent, n: number): void {
    this.#line('transcript_edit', agent.id, { action: 'truncate', n });
    agent.transcript = agent.transcript.slice(0, n);
  }

  #said({ transcript }: Agent): string {
    return transcript.at(-1)?.content ?? 'None';
  }

  #create(name: string, role: string, { cause, parent }: { cause: string; parent: string }): Agent {
    const slug = name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_]/gu, '_')
      .replace(/^_+|_+$/g, '');
    let id = slug;
    for (let count = 1; this.#ids.has(id); count += 1) id = `${slug}${count}`;
    this.#ids.add(id);
    this.#line('agent_created', id, { role, name, cause, parent, language_model: 'fake/model-1' });
    const agent = {
      id,
      name,
      isHook: role === 'hook',
      children: [],
      hooks: [],
      transcript: [],
      speakers: [],
      listeners: [],
    };
    this.#agents.push(agent);
    return agent;
  }

  #entry(agent: Agent, message: LoadedMessage, links: Fields, isFixed = false): string {
    const { role, content, name, tool_calls: calls, tool_call_id: callId } = message;
    const id = this.#line('transcript_entry', agent.id, {
      role,
      content,
      name,
      ...links,
      tool_call_id: callId,
      tool_calls: calls?.map((call, index) => this.#call(call, isFixed ? null : index)),
    });
    agent.transcript.push(message);
    const { substance, cause } = links as { substance?: string; cause?: string | string[] };
    const carried = substance ?? (role === 'tool' && Array.isArray(cause) ? cause : []);
    for (const one of [carried].flat())
      this.#heard.set(one, [...(this.#heard.get(one) ?? []), `${agent.id}:${id}`]);
    return id;
  }

  #call(
    { id, name, arguments: input }: { id: string; name: string; arguments: string },
    index: number | null,
  ): Fields {
    if (index === null || !this.#isDump)
      return { id, type: 'function', function: { name, arguments: input } };
    return { index, function: { arguments: input, name }, id, type: 'function' };
  }

  #line(type: string, agent: string, fields: Fields): string {
    const id = `${this.#next}`;
    this.#next += 1;
    this.#text += `${this.#json({ message_id: id, event_type: type, agent, ...fields }, true)}\n\n`;
    return id;
  }

  /** As Python writes JSON. What models write has no escapes beyond those that JSON needs. */
  #json(value: unknown, isAscii = false): string {
    if (Array.isArray(value)) return `[${value.map((one) => this.#json(one, isAscii)).join(', ')}]`;
    if (typeof value === 'object' && value !== null) {
      const fields = Object.entries(value).filter(([, one]) => one !== undefined);
      return `{${fields.map(([key, one]) => `"${key}": ${this.#json(one, isAscii)}`).join(', ')}}`;
    }
    const text = JSON.stringify(value);
    if (!isAscii) return text;
    return [...Array(text.length).keys()]
      .map((at) =>
        text.charCodeAt(at) < 127 ? text[at] : `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
      )
      .join('');
  }

  #callId(): string {
    this.#calls += 1;
    return `toolu_${this.#calls}`;
  }

  #words(): string {
    return Array.from({ length: 1 + this.#below(3) }, () => this.#pick(words)).join(' ');
  }

  #some<T>(items: readonly T[]): T[] {
    const some = items.filter(() => this.#chance(0.6));
    return some.length === 0 ? items.slice(0, 1) : some;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}
