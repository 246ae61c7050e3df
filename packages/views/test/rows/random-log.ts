import type { CapturedEvent, EventLinks, JsonObject, JsonValue } from '@hansard/events';

/** What a row must be, written down by the code that makes its events. */
export interface TrueRow {
  kind: string;
  readonly agentId: string;
  readonly events: number[];
  /** The texts that it must have whole. */
  readonly texts: string[];
  status?: string;
  isFailed: boolean;
  readonly heard: [agentId: string, how: string][];
  folded: number;
}

interface OpenCall {
  readonly agentId: string;
  readonly toolCallId: string;
  readonly row: TrueRow;
}

/** A random log of several agents with its rows. It knows nothing of the code that makes rows. */
export class RandomLog {
  readonly events: CapturedEvent[] = [];
  readonly rows: TrueRow[] = [];
  readonly #random: () => number;
  readonly #agents: readonly string[];
  readonly #open: OpenCall[] = [];
  #made = 0;

  constructor(random: () => number, steps: number) {
    this.#random = random;
    this.#agents = ['', 'ann', 'ben', 'cleo'].slice(0, 1 + this.#below(4));
    for (let step = 0; step < steps; step += 1) this.#step();
  }

  #step(): void {
    const choice = this.#below(8);
    if (choice < 3) this.#answer();
    else if (choice < 5) this.#result();
    else if (choice === 5) this.#message();
    else if (choice === 6) for (let left = this.#below(4); left >= 0; left -= 1) this.#noise();
    else this.#other();
  }

  /** A message of a model: its call, thoughts, text and tool calls, in one of the orders in which engines write them. */
  #answer(): void {
    const agentId = this.#pick(this.#agents);
    const messageId = this.#id();
    const links = { messageId, ...(agentId !== '' && { agentId }) };
    const calls = this.#below(3);
    const isFiguresFirst = this.#below(2) === 0;
    const says = calls === 0 || this.#below(2) === 0;
    const inference = () =>
      this.#add('agent:inference', { model: 'm', usage: { inputTokens: 1, outputTokens: 2 } }, links);
    let figures = isFiguresFirst ? inference() : null;
    const rows: TrueRow[] = [];
    const begin = (kind: string, position: number) => {
      const row = this.#row(kind, agentId, figures === null ? position : figures);
      if (figures !== null) row.events.push(position);
      figures = null;
      rows.push(row);
      return row;
    };
    if (this.#below(2) === 0) {
      const text = this.#words();
      begin('thought', this.#add('agent:thinking', { text }, links)).texts.push(text);
    }
    if (says) {
      const text = this.#words();
      const row = begin(calls === 0 ? 'said' : 'aside', this.#add('agent:text', { text }, links));
      row.texts.push(text);
      if (calls === 0) this.#deliver(row, text, this.#latestId(), agentId);
    }
    for (let call = 0; call < calls; call += 1) this.#call(agentId, links, begin);
    if (!isFiguresFirst) rows[0]?.events.push(inference());
  }

  #call(agentId: string, links: EventLinks, begin: (kind: string, position: number) => TrueRow): void {
    const toolCallId = this.#id();
    const { input, texts } = this.#input();
    const data = { toolCallId, tool: 'Tool', metadata: {}, input };
    const row = begin('call', this.#add('agent:tool_call', data, links));
    row.texts.push(...texts);
    row.status = 'open';
    this.#open.push({ agentId, toolCallId, row });
    if (this.#below(4) === 0) {
      const decision = this.#below(2) === 0 ? 'deny' : 'allow';
      const verdict = { hook: 'h', on: 'tool_call', decision, toolCallId };
      row.events.push(this.#add('harness:hook_decision', verdict, agentId === '' ? {} : { agentId }));
      if (decision === 'deny') {
        row.status = 'denied';
        row.isFailed = true;
      }
    }
  }

  #input(): { readonly input: JsonValue; readonly texts: readonly string[] } {
    const [one, two, three] = [this.#words(), this.#words(), this.#words()];
    const edit = { old_string: `${one}\n${two}\nsame`, new_string: `${one}\n${three}\nsame` };
    const edited = [one, two, three];
    switch (this.#below(6)) {
      case 0:
        return { input: { command: `${one}\n${two}`, description: three }, texts: [one, two, three] };
      case 1:
        return { input: { file_path: one, ...edit }, texts: edited };
      case 2:
        return {
          input: { file_path: 'a', edits: [edit, { old_string: '', new_string: two }] },
          texts: edited,
        };
      case 3:
        return {
          input: { prompt: one.repeat(40), deep: { list: [two, { at: three }] }, on: true },
          texts: edited,
        };
      case 4:
        return { input: one, texts: [one] };
      default:
        return { input: [one, [two]], texts: [one, two] };
    }
  }

  /** The result of an open call, in any order of the calls. */
  #result(): void {
    const [call] = this.#open.splice(this.#below(Math.max(1, this.#open.length)), 1);
    if (call === undefined) return;
    const text = this.#words();
    const isError = this.#below(3) === 0;
    const output: JsonValue = this.#below(2) === 0 ? text : [{ type: 'text', text }];
    const data = { toolCallId: call.toolCallId, tool: 'Tool', metadata: {} };
    const outcome = isError ? { status: 'error', error: text } : { status: 'completed', output };
    const links = call.agentId === '' ? {} : { agentId: call.agentId };
    call.row.events.push(this.#add('agent:tool_result', { ...data, ...outcome }, links));
    call.row.texts.push(text);
    if (call.row.status === 'open') call.row.status = outcome.status;
    call.row.isFailed ||= isError;
  }

  /** A message of a person to one agent, which can be passed on to others. */
  #message(): void {
    const agentId = this.#pick(this.#agents);
    const text = this.#words();
    const position = this.#add(
      'user:message',
      { text, source: { kind: 'user' } },
      agentId === '' ? {} : { agentId },
    );
    const row = this.#row('message', agentId, position);
    row.texts.push(text);
    row.heard.push([agentId, 'same']);
    this.#deliver(row, text, this.#latestId(), agentId);
  }

  #deliver(row: TrueRow, text: string, substance: string, speaker: string): void {
    for (const agentId of this.#agents.filter((other) => other !== speaker && this.#below(2) === 0)) {
      const links = agentId === '' ? {} : { agentId };
      const way = this.#pick(['same', 'wrapped', 'altered', 'withheld']);
      row.heard.push([agentId, way]);
      if (way === 'withheld') {
        const verdict = { hook: 'h', on: 'delivery', decision: 'deny', subject: substance };
        row.events.push(this.#add('harness:hook_decision', verdict, links));
        continue;
      }
      const received = way === 'same' ? text : way === 'wrapped' ? `[x]: ${text}.` : this.#words();
      const data = { text: received, source: { kind: 'agent' as const, agentId: speaker || 'root' } };
      row.events.push(this.#add('user:message', data, { ...links, substance }));
      row.texts.push(received);
    }
  }

  #noise(): void {
    const call = this.#below(3) === 0 ? this.#open[0] : undefined;
    const record = { state: this.#words(), ...(call !== undefined && { toolUseID: call.toolCallId }) };
    const type = this.#pick(['system:hook_started', 'session:status', 'system:odd_thing'] as const);
    const position = this.#add(type, record, {});
    const last = this.rows.at(-1);
    const row = call?.row ?? (last?.kind === 'noise' ? last : this.#row('noise', '', position));
    if (row.events[0] !== position) row.events.push(position);
    row.folded += 1;
  }

  #other(): void {
    const text = this.#words();
    const agentId = this.#pick(this.#agents);
    const links = agentId === '' ? {} : { agentId };
    const [type, data, isFailed] = this.#pick<readonly [CapturedEvent['type'], JsonObject, boolean]>([
      ['game:vote', { for: text }, false],
      ['agent:output', { parts: [{ kind: 'text', text }] }, false],
      ['harness:error', { message: text }, true],
      ['system:hook_response', { text, exit_code: 2 }, true],
      [
        'agent:tool_result',
        { toolCallId: this.#id(), tool: 'T', metadata: {}, status: 'completed', output: text },
        false,
      ],
      ['session:complete', { status: 'completed', result: text }, false],
    ]);
    const row = this.#row('event', agentId, this.#add(type, data, links));
    row.texts.push(text);
    row.isFailed = isFailed;
  }

  #row(kind: string, agentId: string, position: number): TrueRow {
    const row: TrueRow = {
      kind,
      agentId,
      events: [position],
      texts: [],
      isFailed: false,
      heard: [],
      folded: 0,
    };
    this.rows.push(row);
    return row;
  }

  #add(type: CapturedEvent['type'], data: JsonObject, links: EventLinks): number {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + this.events.length * 1_000).toISOString();
    return this.events.push({ id: this.#id(), type, timestamp, ...links, data }) - 1;
  }

  #latestId(): string {
    return this.events.at(-1)?.id ?? '';
  }

  #id(): string {
    this.#made += 1;
    return `id-${this.#made}`;
  }

  /** Words that are nowhere else in the log. */
  #words(): string {
    this.#made += 1;
    return `word${this.#made} of${this.#made}`;
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }
}
