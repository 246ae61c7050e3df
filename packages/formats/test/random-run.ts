import {
  type CapturedEvent,
  createIdSource,
  type JsonObject,
  type NewEvent,
  newEvent,
} from '@hansard/events';

/** What a line must say, written down while the run is played. */
export interface ExpectedLine {
  readonly agent_id: string;
  readonly role?: string;
  content?: string;
  readonly calls: string[];
  readonly tool_call_id?: string;
  /** The event id of what it carries. */
  readonly substance?: string;
  /** A record of `session-v2` only. */
  readonly isPiece?: true;
}

export interface PlayedRun {
  readonly events: readonly CapturedEvent[];
  readonly lines: readonly ExpectedLine[];
  /** How many of `lines` no later event can change, after each event. */
  readonly complete: readonly number[];
  /** The number of each event that a line carries, such as `msg_004`. */
  readonly numbers: ReadonlyMap<string, string>;
}

interface OpenAnswer {
  readonly id: string;
  readonly blocks: ((index: number) => NewEvent)[];
  written: number;
  line: ExpectedLine | null;
}

interface Player {
  readonly agentId: string;
  answer: OpenAnswer | null;
  /** Calls without a result. */
  readonly calls: string[];
}

/**
 * Plays a run of several agents at once: their answers arrive block by block, between those of other agents, results of their own calls, messages
 * and notices. `isTold`: an `agent:inference` ends most answers; otherwise there is none, and the blocks of an answer follow one another.
 */
export function playRun(random: () => number, isTold: boolean): PlayedRun {
  return new RandomRun(random, isTold).play();
}

class RandomRun {
  readonly #random: () => number;
  readonly #isTold: boolean;
  readonly #createId: () => string;
  readonly #events: CapturedEvent[] = [];
  readonly #lines: ExpectedLine[] = [];
  readonly #complete: number[] = [];
  /** The lines of answers that may get further blocks. */
  readonly #open = new Set<ExpectedLine>();
  readonly #numbers = new Map<string, string>();
  /** The utterances that are over for their agent, with their lines. */
  readonly #said = new Map<string, ExpectedLine>();
  readonly #players: Player[] = [];
  #time = Date.UTC(2026, 2, 1);

  constructor(random: () => number, isTold: boolean) {
    this.#random = random;
    this.#isTold = isTold;
    this.#createId = createIdSource({ now: () => this.#time, random });
  }

  play(): PlayedRun {
    for (const agentId of ['agent_001', 'agent_002', 'agent_003']) this.#create(agentId);
    // The log shows with its first answer whether inferences end answers.
    const [first] = this.#players as [Player];
    this.#begin(first);
    while (first.answer !== null) this.#continue(first);
    for (let step = 0; step < 80; step += 1) this.#step(this.#pick(this.#players));
    return { events: this.#events, lines: this.#lines, complete: this.#complete, numbers: this.#numbers };
  }

  #step(player: Player): void {
    const dice = this.#random();
    if (player.answer !== null && (dice < 0.6 || !this.#isTold)) this.#continue(player);
    else if (player.calls.length > 0 && dice < 0.8) this.#answerCall(player);
    else if (dice < 0.85) this.#deliver(player);
    else if (dice < 0.9) this.#push(newEvent('harness:stall', { idleMs: 1, limitMs: 1 }, player));
    else if (player.answer === null || (this.#isTold && dice > 0.96)) this.#begin(player);
  }

  #create(agentId: string): void {
    this.#players.push({ agentId, answer: null, calls: [] });
    this.#record({ agent_id: agentId, calls: [] }, newEvent('agent:created', { name: agentId }, { agentId }));
  }

  /** Begins an answer. One that has not ended is over. */
  #begin(player: Player): void {
    this.#end(player);
    // Without inferences, the next answer of anyone ends those before it.
    if (!this.#isTold) this.#open.clear();
    const { agentId } = player;
    const id = this.#createId();
    const block = (make: (fields: JsonObject) => NewEvent) => (index: number) =>
      make({ agentId, messageId: id, id: index === 0 ? id : `${id}.${index}` });
    const calls = Array.from({ length: Math.floor(this.#random() * 4) }, (_, at) =>
      block((fields) =>
        newEvent(
          'agent:tool_call',
          { toolCallId: `${id}-${at}`, tool: 'look', input: {}, metadata: {} },
          fields,
        ),
      ),
    );
    const hasText = calls.length === 0 || this.#random() < 0.5;
    const blocks = [
      ...(this.#random() < 0.4
        ? [block((fields) => newEvent('agent:thinking', { text: 'Hm.' }, fields))]
        : []),
      ...(hasText ? [block((fields) => newEvent('agent:text', { text: `says ${id}` }, fields))] : []),
      ...calls,
    ];
    player.answer = { id, blocks, written: 0, line: null };
    this.#continue(player);
    // Without an inference, its blocks follow one another.
    while (!this.#isTold && player.answer !== null) this.#continue(player);
  }

  #continue(player: Player): void {
    const { answer } = player;
    if (answer === null) return;
    const make = answer.blocks[answer.written];
    if (make === undefined) {
      if (this.#isTold && (this.#events.length < 10 || this.#random() < 0.9))
        this.#end(
          player,
          newEvent(
            'agent:inference',
            { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } },
            { agentId: player.agentId, messageId: answer.id },
          ),
        );
      // The others are over when their agent begins another one, or when anything else is recorded.
      else this.#keep(player);
      return;
    }
    const event = make(answer.written);
    answer.written += 1;
    if (event.type !== 'agent:thinking' && answer.line === null) {
      answer.line = { agent_id: player.agentId, role: 'assistant', calls: [] };
      this.#lines.push(answer.line);
      this.#open.add(answer.line);
      this.#number(answer.id);
    }
    if (event.type === 'agent:text' && answer.line !== null) {
      answer.line.content = (event.data as { text: string }).text;
    }
    if (event.type === 'agent:tool_call') {
      const { toolCallId } = event.data as { toolCallId: string };
      answer.line?.calls.push(toolCallId);
      player.calls.push(toolCallId);
    }
    this.#push(event);
  }

  /** The answers of an agent are over: with an event that says so, or before its next one. */
  #end(player: Player, inference?: NewEvent): void {
    for (const line of this.#open) if (line.agent_id === player.agentId) this.#open.delete(line);
    if (inference !== undefined) this.#push(inference);
    this.#keep(player);
  }

  /** The agent makes no more of its answer. */
  #keep(player: Player): void {
    const { answer } = player;
    if (answer?.line != null && answer.line.calls.length === 0) this.#said.set(answer.id, answer.line);
    player.answer = null;
  }

  #answerCall({ agentId, calls }: Player): void {
    const [toolCallId = ''] = calls.splice(Math.floor(this.#random() * calls.length), 1);
    this.#record(
      { agent_id: agentId, role: 'tool', content: 'seen', tool_call_id: toolCallId, calls: [] },
      newEvent(
        'agent:tool_result',
        { toolCallId, tool: 'look', status: 'completed', output: 'seen', metadata: {} },
        { agentId },
      ),
    );
  }

  /** A message of a person, an utterance of another agent, or a text that is stored once. */
  #deliver({ agentId }: Player): void {
    const dice = this.#random();
    if (dice < 0.2) {
      const text = 'Listen.';
      const id = this.#createId();
      this.#record(
        { agent_id: 'agent_001', content: text, calls: [], isPiece: true },
        newEvent('agent:piece_of_text', { text }, { agentId: 'agent_001', id }),
      );
      return;
    }
    const said = dice < 0.6 && this.#said.size > 0 ? this.#pick([...this.#said.keys()]) : undefined;
    const links = said === undefined ? {} : { substance: said };
    // What was received is over.
    if (said !== undefined) this.#open.delete(this.#said.get(said) as ExpectedLine);
    this.#record(
      { agent_id: agentId, role: 'user', content: 'Hear this.', calls: [], ...links },
      newEvent('user:message', { text: 'Hear this.', source: { kind: 'external' } }, { agentId, ...links }),
    );
  }

  #record(line: ExpectedLine, event: NewEvent): void {
    // Without inferences, anything that has a line ends the answers before it.
    if (!this.#isTold) this.#open.clear();
    const id = event.id ?? this.#createId();
    this.#number(id);
    this.#lines.push(line);
    this.#push({ ...event, id });
  }

  #number(id: string): void {
    this.#numbers.set(id, `msg_${String(this.#numbers.size + 1).padStart(3, '0')}`);
  }

  #push(event: NewEvent): void {
    this.#time += 1_000;
    this.#events.push({ id: this.#createId(), timestamp: new Date(this.#time).toISOString(), ...event });
    const first = this.#lines.findIndex((line) => this.#open.has(line));
    this.#complete.push(first < 0 ? this.#lines.length : first);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}
