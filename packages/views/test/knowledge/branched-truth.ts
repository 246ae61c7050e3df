import type { CapturedEvent } from '@hansard/events';
import type { BranchedLog } from '@hansard/testing';

type WrittenAnswer = BranchedLog['answers'][number];

/** What the model of an answer was given, as ids of what its agent received. */
export interface TruePrompt {
  readonly messageId: string;
  readonly basis: 'recorded' | 'reconstructed';
  /** In the order of the prompt. */
  readonly given: readonly string[];
  /** What no earlier answer on its path was given, sorted. */
  readonly isNew: readonly string[];
}

const receivedTypes = new Set(['user:message', 'agent:tool_result', 'agent:given', 'session:compaction']);

/**
 * What the agents of a random log knew, from the lists that its writer kept. It walks no tree and folds no branch: each question is
 * answered from the whole list of the path.
 */
export class BranchedTruth {
  readonly log: BranchedLog;
  readonly #numbers: ReadonlyMap<string, number>;
  /** The model calls that record what they were given, by message: the number of the last event. */
  readonly #through = new Map<string, number>();

  constructor(log: BranchedLog) {
    this.log = log;
    this.#numbers = new Map(log.events.map(({ id }, at) => [id, at]));
    for (const { messageId, through } of log.answers)
      if (through !== null) this.#through.set(messageId, this.#number(through));
  }

  promptOf(answer: WrittenAnswer): TruePrompt {
    const { id, agentId, messageId, prompt, through } = answer;
    const limit = prompt === null ? this.#number(id) - 1 : this.#number(through ?? '');
    const before = prompt ?? (this.log.pathTo.get(id) ?? []).slice(0, -1);
    // An answer was not given what it retracts itself.
    const gone = prompt === null ? this.#number(id) : limit;
    const line = this.#inOrder(this.#shown(before, gone), agentId, limit);
    const basis = prompt === null ? 'reconstructed' : 'recorded';
    const given = this.#given(line, before, basis === 'reconstructed');
    const owed = new Set(this.#answersIn(line).flatMap((at) => this.#owedAt(line, at)));
    return { messageId, basis, given, isNew: given.filter((one) => !owed.has(one)).sort() };
  }

  /** What an agent had received on its current branch after the event with a number, sorted. */
  receivedAt(agentId: string, number: number): string[] {
    const last = this.log.events.findLastIndex((one, at) => at <= number && one.agentId === agentId);
    const { ids = [] } = this.log.prompts[last] ?? {};
    // Another agent can have taken back a part of an inherited head since.
    return this.#shown(ids, number)
      .filter((id) => this.#isReceived(id))
      .sort();
  }

  /** Whether an entry was taken back, or abandoned, by the end. */
  fateOf(id: string): 'retracted' | 'abandoned' | null {
    if (this.log.retractedBy.has(id)) return 'retracted';
    const owner = this.log.agents.find(({ agentId }) => agentId === this.event(id).agentId);
    const isOn = owner?.paths.some(({ ids, state }) => state !== 'abandoned' && ids.includes(id));
    return isOn === true ? null : 'abandoned';
  }

  /** The entries of an agent on any branch, and those that it inherits, sorted. */
  partsOf(agentId: string): string[] {
    const own = this.log.events.filter((one) => one.agentId === agentId && this.log.pathTo.has(one.id));
    return [...this.#headOf(agentId), ...own.map(({ id }) => id)].sort((one, other) =>
      one < other ? -1 : 1,
    );
  }

  /** What an agent inherits is in its prompts, whatever happens to it where it comes from. */
  fateIn(agentId: string, id: string): 'retracted' | 'abandoned' | null {
    return this.event(id).agentId === agentId ? this.fateOf(id) : null;
  }

  /** Of a delivery to an agent: the fate of what was said in the transcript of its author. */
  saidFateOf(agentId: string, id: string): 'retracted' | 'abandoned' | null {
    const delivery = this.log.deliveries.find((one) => one.id === id && one.agentId === agentId);
    return delivery === undefined ? null : this.fateOf(delivery.utterance);
  }

  #headOf(agentId: string): string[] {
    const head = this.log.agents.find((one) => one.agentId === agentId)?.head ?? [];
    return this.#shown(head, this.log.events.length);
  }

  event(id: string): CapturedEvent {
    return this.log.events[this.#number(id)] as CapturedEvent;
  }

  /** The call that a result answers: the latest with its id on the path, otherwise the latest of its agent. */
  callOf(id: string): string | null {
    const { data, agentId } = this.event(id);
    const isCall = (one: string) =>
      this.event(one).type === 'agent:tool_call' && this.event(one).data.toolCallId === data.toolCallId;
    const path = (this.log.pathTo.get(id) ?? []).filter((one) => !one.startsWith('?'));
    const onPath = path.findLast(isCall);
    if (onPath !== undefined) return onPath;
    const earlier = this.log.events.slice(0, this.#number(id));
    return earlier.findLast((one) => one.agentId === agentId && isCall(one.id))?.id ?? null;
  }

  #number(id: string): number {
    return this.#numbers.get(id) ?? Number.NaN;
  }

  #shown(ids: readonly string[], through: number): string[] {
    const isGone = (id: string) => (this.log.retractedBy.get(id) ?? Number.POSITIVE_INFINITY) <= through;
    return ids.filter((id) => !id.startsWith('?') && !isGone(id));
  }

  #isReceived(id: string): boolean {
    return receivedTypes.has(this.event(id).type);
  }

  /** A path as its model was given it: what came during a call stands behind its answer. */
  #inOrder(ids: readonly string[], agentId: string, limit: number): string[] {
    const runs: string[][] = [];
    for (const id of ids) {
      const run = runs.at(-1);
      if (run?.[0] !== undefined && this.event(run[0]).agentId === this.event(id).agentId) run.push(id);
      else runs.push([id]);
    }
    return runs.flatMap((run) => {
      const owner = this.event(run[0] ?? '').agentId;
      const messages = new Set(run.flatMap((id) => this.event(id).messageId ?? []));
      const records = this.log.events.filter(
        (one, at) =>
          one.type === 'agent:inference' &&
          one.agentId === owner &&
          messages.has(one.messageId ?? '') &&
          (owner !== agentId || at <= limit),
      );
      const all = [...run, ...records.map(({ id }) => id)];
      all.sort((one, other) => this.#number(one) - this.#number(other));
      return this.#movedBehind(all);
    });
  }

  #movedBehind(ids: readonly string[]): string[] {
    const done: string[] = [];
    let open: string[] = [];
    for (const id of ids) {
      const { type, messageId = '' } = this.event(id);
      if (type !== 'agent:inference') {
        open.push(id);
        continue;
      }
      const through = this.#through.get(messageId) ?? Number.POSITIVE_INFINITY;
      const late = open.filter((one) => {
        const event = this.event(one);
        if (event.messageId === messageId || event.type === 'session:compaction') return false;
        return this.#number(one) > through;
      });
      done.push(...open.filter((one) => !late.includes(one)));
      open = late;
    }
    return [...done, ...open];
  }

  /** The places in a line where an answer begins. */
  #answersIn(line: readonly string[]): number[] {
    const isBlock = (id: string) => /^agent:(text|tool_call)$/.test(this.event(id).type);
    const messageOf = (id: string) => `${this.event(id).agentId} ${this.event(id).messageId}`;
    const first = (id: string) => line.find((one) => isBlock(one) && messageOf(one) === messageOf(id));
    return [...line.keys()].filter((at) => isBlock(line[at] ?? '') && first(line[at] ?? '') === line[at]);
  }

  /** What the answer that begins at a place of a line was given of it. */
  #owedAt(line: readonly string[], at: number): string[] {
    const { messageId = '', agentId } = this.event(line[at] ?? '');
    const through = this.#through.get(messageId) ?? Number.POSITIVE_INFINITY;
    return line
      .slice(0, at)
      .filter((id) => this.event(id).agentId !== agentId || this.#number(id) <= through);
  }

  /** A line without what a compaction replaced, each result beside its call. */
  #given(line: readonly string[], path: readonly string[], showsLost: boolean): string[] {
    const summary = line.findLast((id) => this.event(id).type === 'session:compaction');
    const from = summary === undefined ? 0 : line.indexOf(summary);
    const groupOf = (id: string): number | null => {
      const { type, messageId, agentId } = this.event(id);
      if (type === 'agent:tool_result') {
        const call = this.callOf(id);
        if (call === null) return showsLost ? line.indexOf(id) : null;
        return path.includes(call) && line.includes(call) ? groupOf(call) : null;
      }
      const ofMessage = (one: string) =>
        this.event(one).messageId === messageId && this.event(one).agentId === agentId;
      return messageId === undefined ? line.indexOf(id) : line.findIndex(ofMessage);
    };
    const stepOf = (id: string): number => {
      const call = this.event(id).type === 'agent:tool_result' ? this.callOf(id) : null;
      if (call === null) return 0;
      const { messageId } = this.event(call);
      const calls = this.log.events.filter(
        (one) => one.type === 'agent:tool_call' && one.messageId === messageId,
      );
      return 1 + calls.findIndex((one) => one.data.toolCallId === this.event(call).data.toolCallId);
    };
    const placed = line.flatMap((id, at) => {
      const group = groupOf(id);
      if (!this.#isReceived(id) || group === null) return [];
      if (this.event(id).type === 'session:compaction')
        return id === summary ? [{ id, group: -1, step: 0, at }] : [];
      return group < from ? [] : [{ id, group, step: stepOf(id), at }];
    });
    placed.sort((one, other) => one.group - other.group || one.step - other.step || one.at - other.at);
    return placed.map(({ id }) => id);
  }
}
