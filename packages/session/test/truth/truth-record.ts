import { type TrueDelivery, TruePrompt, type TruePromptNow } from './true-prompt.ts';

export type Way = 'said' | 'same' | 'wrapped' | 'altered' | 'withheld';

export interface TrueSaying {
  /** Null: a person. */
  readonly speaker: string | null;
  readonly text: string;
  /** In order. */
  readonly hearings: { readonly agentId: string; readonly way: Way }[];
}

/** Something that reached an agent. */
export interface TrueArrival extends TrueDelivery {
  /** What it carries on; null: nothing that was said, or more than one thing. */
  readonly saying: TrueSaying | null;
  /** Whether it came in other words than were said, by a hook or by the agent that passed it on. */
  readonly wasAltered: boolean;
}

/** One model call that was answered. */
export interface TrueAnswer {
  /** The id of the tool call that asked for it; null: no tool did, or it is not the first of its turn. */
  readonly askedBy: string | null;
  /** The prompt that its model was given. */
  readonly prompt: TruePromptNow;
  /** How much had reached the agent when its model was called; the rest came later. */
  readonly known: number;
  /** The prompt as the order of the log alone lets it appear: with what came before the answer. */
  readonly inOrder: TruePromptNow;
}

/** A decision of a hook that the log has: all but those that allow. */
export interface TrueDecision {
  readonly on: 'tool_call' | 'tool_result' | 'delivery';
  readonly decision: 'alter' | 'deny';
  /** By agent and place: the delivery of an altered text, or the error that a denial left; null: nothing. */
  became: { readonly agentId: string; readonly place: number } | null;
}

type Waiting =
  | { readonly place: number }
  | { readonly place: number; readonly keptFrom: number | null; readonly isCompaction: true };

/** A tool call whose result is not in the log. */
interface OpenCall {
  readonly agentId: string;
  /** Decisions about the call that are not in the log. */
  readonly decisions: TrueDecision[];
  madeFrom: readonly TrueSaying[];
  /** Decisions about the result that alter it. */
  readonly alterations: TrueDecision[];
  /** Gives the agent its result; null: there is none yet. */
  finish: (() => void) | null;
}

interface AgentTruth {
  readonly deliveries: TrueArrival[];
  readonly answers: TrueAnswer[];
  readonly prompt: TruePrompt;
  readonly inOrder: TruePrompt;
  /** What its next call is given beside the prompt so far. */
  readonly waiting: Waiting[];
  readonly unanswered: Set<number>;
  /** The calls of its latest answer that have no result in the log, in order. */
  calls: string[];
  /** The places of what reached it, and `answer`, in the order in which its model is given them. */
  readonly course: (number | 'answer')[];
  /** What came during the call that is under way; null: there is none. */
  duringCall: number[] | null;
}

/** What is given to the model in a call that is under way. */
export interface TrueCall {
  readonly agentId: string;
  readonly askedBy: string | null;
  readonly prompt: TruePromptNow;
  readonly known: number;
}

/** The true course of a session, recorded by the code that plays it. It knows nothing of logs and views. */
export class TruthRecord {
  readonly sayings: TrueSaying[] = [];
  readonly agents = new Map<string, AgentTruth>();
  readonly decisions: TrueDecision[] = [];
  readonly #most: number;
  readonly #calls = new Map<string, OpenCall>();
  #undelivered: TrueDecision[] = [];

  /** `most`: how many messages a prompt may have. */
  constructor(most: number) {
    this.#most = most;
  }

  enter(agentId: string, systemPrompt: string): void {
    const deliveries: TrueArrival[] = [];
    this.agents.set(agentId, {
      deliveries,
      answers: [],
      prompt: new TruePrompt(deliveries, this.#most),
      inOrder: new TruePrompt(deliveries, Number.POSITIVE_INFINITY),
      waiting: [],
      unanswered: new Set(),
      calls: [],
      course: [],
      duringCall: null,
    });
    this.#deliver(agentId, { kind: 'system', text: systemPrompt, saying: null, wasAltered: false });
  }

  of(agentId: string): AgentTruth {
    const agent = this.agents.get(agentId);
    if (agent === undefined) throw new RangeError(`There is no agent ${agentId}.`);
    return agent;
  }

  say(speaker: string | null, text: string): TrueSaying {
    const saying: TrueSaying = { speaker, text, hearings: [] };
    this.sayings.push(saying);
    return saying;
  }

  /** A hook altered or denied a delivery. The result shows when it is made. */
  decideDelivery(decision: TrueDecision['decision']): void {
    this.#undelivered.push({ on: 'delivery', decision, became: null });
  }

  alterCall(toolCallId: string): void {
    this.#call(toolCallId).decisions.push({ on: 'tool_call', decision: 'alter', became: null });
  }

  /** A hook denied a call. The agent gets an error in place of a result. */
  denyCall(toolCallId: string, text: string): void {
    const call = this.#call(toolCallId);
    const made: TrueDecision = { on: 'tool_call', decision: 'deny', became: null };
    call.decisions.push(made);
    call.finish = () => {
      made.became = { agentId: call.agentId, place: this.#result(call.agentId, text, null, false) };
    };
  }

  /** The decisions about a call are in the log before its result. */
  loggedDecisions(toolCallId: string): void {
    this.decisions.push(...this.#call(toolCallId).decisions.splice(0));
  }

  /** A tool returned, and the hooks are asked about its result. */
  returned(toolCallId: string, madeFrom: readonly TrueSaying[]): void {
    this.#call(toolCallId).madeFrom = [...new Set(madeFrom)];
  }

  alterResult(toolCallId: string): void {
    this.#call(toolCallId).alterations.push({ on: 'tool_result', decision: 'alter', became: null });
  }

  /** A hook denied a result. The agent gets an error, and nothing of what the result was made from. */
  denyResult(toolCallId: string, text: string): void {
    const call = this.#call(toolCallId);
    const { agentId, madeFrom, alterations } = call;
    call.finish = () => {
      for (const { hearings } of madeFrom) hearings.push({ agentId, way: 'withheld' });
      const made: TrueDecision = { on: 'tool_result', decision: 'deny', became: null };
      this.decisions.push(...alterations, made);
      made.became = { agentId, place: this.#result(agentId, text, null, false) };
    };
  }

  /** The agent gets a result in the words that the hooks left or made. */
  passResult(toolCallId: string, text: string): void {
    const call = this.#call(toolCallId);
    const { agentId, madeFrom, alterations } = call;
    call.finish = () => {
      const isAltered = alterations.length > 0;
      const ways = madeFrom.map((saying) => (isAltered ? 'altered' : wayOf(saying.text, text, false)));
      for (const [at, { hearings }] of madeFrom.entries())
        hearings.push({ agentId, way: ways[at] ?? 'same' });
      const [only = null, ...others] = madeFrom;
      const saying = others.length === 0 ? only : null;
      const place = this.#result(agentId, text, saying, saying !== null && ways[0] === 'altered');
      for (const decision of alterations) decision.became = { agentId, place };
      this.decisions.push(...alterations);
    };
  }

  /** Whether a call has a result, in the log or not, and whether it is the first of its answer whose result is not in the log. */
  stateOf(toolCallId: string): { readonly isFinished: boolean; readonly isNext: boolean } {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return { isFinished: true, isNext: false };
    return { isFinished: call.finish !== null, isNext: this.of(call.agentId).calls[0] === toolCallId };
  }

  /** The result of a call is in the log: the agent has it. Results come in the order of the calls. */
  loggedResult(toolCallId: string): void {
    const { agentId, decisions, finish } = this.#call(toolCallId);
    const { calls } = this.of(agentId);
    if (finish === null || calls.shift() !== toolCallId)
      throw new Error(`The result of ${toolCallId} is in the log before its turn.`);
    this.decisions.push(...decisions);
    finish();
    this.#calls.delete(toolCallId);
  }

  /**
   * The process is gone: what was not in the log never happened, and the model calls under way have no answer. `text` is the
   * result of each call that has none.
   */
  crash(text: string): void {
    this.#undelivered = [];
    for (const agent of this.agents.values()) {
      agent.course.push(...(agent.duringCall ?? []));
      agent.duringCall = null;
    }
    for (const call of this.#calls.values()) {
      call.decisions.splice(0);
      call.finish = () => {
        this.#result(call.agentId, text, null, false);
      };
    }
  }

  /** A message reaches an agent. `before` is the delivery that it passes on. */
  message(
    agentId: string,
    text: string,
    saying: TrueSaying,
    { isAltered = false, before }: { readonly isAltered?: boolean; readonly before?: TrueArrival } = {},
  ): void {
    const way = isAltered ? 'altered' : wayOf(saying.text, text, before?.wasAltered === true);
    saying.hearings.push({ agentId, way });
    const place = this.#deliver(agentId, { kind: 'message', text, saying, wasAltered: way === 'altered' });
    for (const decision of this.#undelivered) decision.became = { agentId, place };
    this.decisions.push(...this.#undelivered.splice(0));
  }

  withhold(agentId: string, saying: TrueSaying): void {
    saying.hearings.push({ agentId, way: 'withheld' });
    this.decisions.push(...this.#undelivered.splice(0));
  }

  /** An agent observes a value, which asks for no answer. */
  observe(agentId: string, text: string): void {
    this.#deliver(agentId, { kind: 'output', text, saying: null, wasAltered: false });
  }

  /** A summary takes the place of what came before `keptFrom`, a place; null: of everything so far. */
  compact(agentId: string, text: string, keptFrom: number | null): void {
    const agent = this.of(agentId);
    const place = agent.deliveries.push({ kind: 'summary', text, saying: null, wasAltered: false }) - 1;
    (agent.duringCall ?? agent.course).push(place);
    agent.inOrder.compact(place, keptFrom);
    agent.waiting.push({ place, keptFrom, isCompaction: true });
  }

  /** The model of an agent is called: all that reached the agent by now is given to it. */
  call(agentId: string, askedBy: string | null): TrueCall {
    const agent = this.of(agentId);
    this.#takeWaiting(agent, () => true);
    agent.duringCall = [];
    return { agentId, askedBy, prompt: agent.prompt.now, known: agent.deliveries.length };
  }

  answer({ agentId, askedBy, prompt, known }: TrueCall, text: string, calls: readonly string[]): void {
    const agent = this.of(agentId);
    agent.calls = [...calls];
    for (const toolCallId of calls)
      this.#calls.set(toolCallId, { agentId, decisions: [], madeFrom: [], alterations: [], finish: null });
    agent.answers.push({ askedBy, prompt, known, inOrder: agent.inOrder.now });
    for (let place = 0; place < known; place += 1) agent.unanswered.delete(place);
    // A summary that came during the call is before the answer, and what else came is after it.
    this.#takeWaiting(agent, (waiting) => 'isCompaction' in waiting);
    agent.prompt.answer(text, calls.length);
    agent.inOrder.answer(text, calls.length);
    const during = Map.groupBy(
      agent.duringCall ?? [],
      (place) => agent.deliveries[place]?.kind === 'summary',
    );
    agent.course.push(...(during.get(true) ?? []), 'answer', ...(during.get(false) ?? []));
    agent.duringCall = null;
  }

  #takeWaiting({ waiting, prompt }: AgentTruth, isTaken: (waiting: Waiting) => boolean): void {
    const taken = waiting.filter(isTaken);
    waiting.splice(0, waiting.length, ...waiting.filter((one) => !isTaken(one)));
    for (const one of taken)
      if ('isCompaction' in one) prompt.compact(one.place, one.keptFrom);
      else prompt.take(one.place);
  }

  #call(toolCallId: string): OpenCall {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) throw new RangeError(`The call ${toolCallId} is not open.`);
    return call;
  }

  #result(agentId: string, text: string, saying: TrueSaying | null, wasAltered: boolean): number {
    const agent = this.of(agentId);
    const place = agent.deliveries.push({ kind: 'result', text, saying, wasAltered }) - 1;
    agent.unanswered.add(place);
    agent.course.push(place);
    agent.prompt.takeResult(place);
    agent.inOrder.takeResult(place);
    return place;
  }

  #deliver(agentId: string, delivery: TrueArrival): number {
    const { deliveries, waiting, unanswered, course, duringCall, inOrder } = this.of(agentId);
    const place = deliveries.push(delivery) - 1;
    waiting.push({ place });
    (duringCall ?? course).push(place);
    inOrder.take(place);
    if (delivery.kind === 'message') unanswered.add(place);
    return place;
  }
}

function wayOf(said: string, received: string, wasAltered: boolean): Way {
  if (said === received) return 'same';
  return !wasAltered && received.split(said).length > 1 ? 'wrapped' : 'altered';
}
