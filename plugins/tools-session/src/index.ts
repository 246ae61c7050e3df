import { definedOnly, preview } from '@hansard/events';
import {
  type AgentHost,
  type AgentInfo,
  type Delivery,
  type DeliveryOutcome,
  definePlugin,
  type LoggedString,
  type ToolOutcome,
  type ToolProvider,
} from '@hansard/provider';
import { combineTools, defineTool, type InputSchema, ToolRefusal } from '@hansard/provider/tools';
import { z } from 'zod';

const tellTool = sessionTool({
  name: 'tell',
  description: 'Sends a text to one agent. No other agent hears it. The agent answers if you request it.',
  input: z.strictObject({
    to: z.string().min(1).describe('Name or id of the agent.'),
    text: z.string().min(1).describe('The text.'),
    expect_answer: z
      .boolean()
      .default(false)
      .describe('true: it answers, and you get the answer. false: it has the text at its next turn.'),
  }),
  async run({ to, text, expect_answer }, host, signal) {
    const recipient = getAgent(host, to, true);
    const metadata = { to: recipient.agentId };
    const [denial] = await deliverOwnWords(host, [recipient], await host.logPieceOfText(text));
    if (denial !== undefined) throw new ToolRefusal(denial);
    if (!expect_answer) return { status: 'completed', text: `Told ${labelOf(recipient)}.`, metadata };
    signal.throwIfAborted();
    const answer = await host.respond(recipient.agentId);
    return { status: 'completed', text: answer.text, madeFrom: [answer.messageId], metadata };
  },
});

/** Keeps out of names what could be taken for the frame of a quotation, and space around them. */
const namePattern = /^(?!\s)[^[\]:\p{Cc}\p{Zl}\p{Zp}]{1,60}(?<!\s)$/u;

/** An id that a session has given to an agent or will give to one, who would then be meant. */
const allocatedId = /^agent_\d+$/;

const taskTool = sessionTool({
  name: 'task',
  description:
    'Creates a sub-agent of yours with its own transcript. It says nothing until you let it speak (`discuss`, `tell`).',
  input: z.strictObject({
    name: z
      .string()
      .refine((name) => namePattern.test(name), 'not a name of 1 to 60 characters without [ ] :')
      .describe('The name of the sub-agent, such as "Jill": 1 to 60 characters without [ ] :'),
    system_prompt: z
      .string()
      .min(1)
      .describe('The instructions to the sub-agent: its identity and its task.'),
    language_model: z.string().min(1).optional().describe('Its model. Absent: yours.'),
  }),
  async run({ name, system_prompt, language_model }, host) {
    const { caller } = host;
    const agents = host.listAgents();
    if (allocatedId.test(name) || agents.some(({ agentId }) => agentId === name))
      throw new ToolRefusal(`${name} is an id, not a name: choose another name.`);
    const taken = agents.some(
      (agent) => agent.name === name && agent.parentAgentId === caller.agentId && agent.state === 'active',
    );
    if (taken) throw new ToolRefusal(`You have a sub-agent ${name} already: choose another name.`);
    const { agentId } = await host.createAgent({
      name,
      systemPrompt: system_prompt,
      ...definedOnly({ languageModel: language_model }),
    });
    return { status: 'completed', text: `Created subagent: ${name}`, metadata: { agentId } };
  },
});

const discussTool = sessionTool({
  name: 'discuss',
  description:
    'Lets agents speak in turn. Each hears your prompt and what the others say; you get back all that was said, and who failed to speak.',
  input: z.strictObject({
    prompt: z.string().min(1).optional().describe('Your text to all of them before the first one speaks.'),
    speakers: z.array(z.string().min(1)).min(1).describe('Names or ids of the speakers, in their order.'),
    listeners: z
      .array(z.string().min(1))
      .default([])
      .describe('Names or ids of agents that hear everything and do not speak.'),
    rounds: z.int().min(1).max(20).default(1).describe('The number of turns of each speaker.'),
    at_once: z
      .int()
      .min(1)
      .max(20)
      .default(1)
      .describe(
        'How many speakers of a round think at the same time. 1: one after the other, each hears those before. More: nobody hears the others of a round before its end.',
      ),
  }),
  async run({ prompt, speakers: names, listeners, rounds, at_once: atOnce }, host, signal) {
    const speakers = getAgents(host, names);
    const everyone = unique([...speakers, ...getAgents(host, listeners)]);
    const discussion = new Discussion(host, everyone, rounds, signal);
    if (prompt !== undefined) await discussion.begin(prompt);
    const groups = atOnce === 1 ? speakers.map((speaker) => [speaker]) : [speakers];
    for (let round = 1; round <= rounds; round++)
      for (const group of groups) await discussion.letSpeak(group, atOnce, round);
    const outcome = discussion.outcome();
    const metadata = {
      speakers: speakers.map(({ agentId }) => agentId),
      audience: everyone.map(({ agentId }) => agentId),
      rounds,
    };
    return { ...outcome, metadata: { ...metadata, ...outcome.metadata } };
  },
});

export default definePlugin({
  id: 'tools-session',
  provides: 'ToolProvider',
  create: () => createSessionTools(),
});

/** The session gives the answer of the person as the result, and does not call the tool. */
const askUserTool = defineTool({
  name: 'ask_user',
  description: 'Asks a person a question, and waits for the answer, which can take days.',
  input: z.strictObject({
    question: z.string().min(1).describe('The question.'),
    choices: z.array(z.string().min(1)).min(1).optional().describe('Answers to choose from.'),
  }),
  waitsFor: 'answer',
  run() {
    throw new ToolRefusal('Nobody can be asked here.');
  },
});

/**
 * The tools with which agents of a session work together: `task`, `discuss` and `tell`, and with `askUser` also `ask_user`. A call that can't be carried
 * out as it was made gets a result with `status: 'error'` that says what to change; what the host throws is thrown on.
 */
export function createSessionTools({ askUser = false }: { readonly askUser?: boolean } = {}): ToolProvider {
  return combineTools([taskTool, discussTool, tellTool, ...(askUser ? [askUserTool] : [])]);
}

interface Turn {
  readonly speaker: AgentInfo;
  /** Null: it failed. */
  readonly utterance: LoggedString | null;
  readonly note: string | null;
}

class Discussion {
  readonly #host: AgentHost;
  readonly #everyone: readonly AgentInfo[];
  readonly #rounds: number;
  readonly #signal: AbortSignal;
  readonly #said: { readonly speaker: AgentInfo; readonly utterance: LoggedString }[] = [];
  readonly #failed = new Set<string>();
  readonly #notes: string[] = [];

  constructor(host: AgentHost, everyone: readonly AgentInfo[], rounds: number, signal: AbortSignal) {
    this.#host = host;
    this.#everyone = everyone;
    this.#rounds = rounds;
    this.#signal = signal;
  }

  async begin(prompt: string): Promise<void> {
    const words = await this.#host.logPieceOfText(prompt);
    this.#notes.push(...(await deliverOwnWords(this.#host, this.#everyone, words)));
  }

  /** Lets each of a group speak once. All that they say is delivered in their order when the last of them has spoken. */
  async letSpeak(group: readonly AgentInfo[], atOnce: number, round: number): Promise<void> {
    const turns = await inParallel(group, atOnce, (speaker) => this.#speak(speaker, round));
    for (const { speaker, utterance, note } of turns) {
      if (note !== null) this.#notes.push(note);
      if (utterance === null) {
        this.#failed.add(speaker.agentId);
        continue;
      }
      this.#said.push({ speaker, utterance });
      const others = this.#everyone.filter(({ agentId }) => agentId !== speaker.agentId);
      this.#notes.push(...(await deliverUtterance(this.#host, others, speaker, utterance)));
    }
  }

  outcome(): ToolOutcome {
    const said = this.#said;
    const failed = [...this.#failed];
    const [only, ...more] = said;
    const lines =
      only !== undefined && more.length === 0 && failed.length === 0
        ? [only.utterance.text]
        : said.map(({ speaker, utterance }) => quote(speaker, utterance.text));
    return {
      status: said.length === 0 ? 'error' : 'completed',
      text: [...lines, ...this.#notes].join('\n'),
      madeFrom: said.map(({ utterance }) => utterance.messageId),
      metadata: failed.length === 0 ? {} : { failed },
    };
  }

  async #speak(speaker: AgentInfo, round: number): Promise<Turn> {
    this.#signal.throwIfAborted();
    try {
      return { speaker, utterance: await this.#host.respond(speaker.agentId), note: null };
    } catch (error) {
      this.#signal.throwIfAborted();
      const when = this.#rounds === 1 ? '' : ` in round ${round}`;
      const note = `${labelOf(speaker)} failed to speak${when}: ${messageOf(error)}`;
      return { speaker, utterance: null, note };
    }
  }
}

/** The results of a task for each item, in the order of the items. At most `limit` tasks run at the same time. */
async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const waiting = items.entries();
  // The lanes share the iterator, so each item is taken once.
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}

/** What one agent said, as others read it. */
function quote(speaker: AgentInfo, text: string): string {
  return `[${labelOf(speaker)}]: ${text}`;
}

/** Delivers an utterance to each; gives back a line for each whom it did not reach. */
function deliverUtterance(
  host: AgentHost,
  recipients: readonly AgentInfo[],
  speaker: AgentInfo,
  said: LoggedString,
): Promise<string[]> {
  return deliver(host, recipients, speaker, said, () => quote(speaker, said.text));
}

/** Delivers a text of the caller: unchanged to its children, which expect it; to others with its name. */
function deliverOwnWords(
  host: AgentHost,
  recipients: readonly AgentInfo[],
  words: LoggedString,
): Promise<string[]> {
  const { caller } = host;
  return deliver(host, recipients, caller, words, ({ parentAgentId }) =>
    parentAgentId === caller.agentId ? words.text : quote(caller, words.text),
  );
}

async function deliver(
  host: AgentHost,
  recipients: readonly AgentInfo[],
  from: AgentInfo,
  content: LoggedString,
  textFor: (recipient: AgentInfo) => string,
): Promise<string[]> {
  const denials: string[] = [];
  for (const recipient of recipients) {
    const { status, reason } = await tryToDeliver(host, recipient.agentId, {
      text: textFor(recipient),
      substance: content.messageId,
      from: from.agentId,
    });
    if (status === 'denied')
      denials.push(`Not delivered to ${labelOf(recipient)}: ${reason ?? 'no reason was given'}`);
  }
  return denials;
}

/** A recipient that fails, such as one that was terminated meanwhile, does not stop the delivery to the others. */
async function tryToDeliver(
  host: AgentHost,
  agentId: string,
  delivery: Delivery,
): Promise<Pick<DeliveryOutcome, 'status' | 'reason'>> {
  try {
    return await host.deliver(agentId, delivery);
  } catch (error) {
    return { status: 'denied', reason: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : preview(error);
}

interface SessionToolParts<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema<Input>;
  run(input: Input, host: AgentHost, signal: AbortSignal): Promise<ToolOutcome>;
}

/** A tool that works with the agents of a session. */
function sessionTool<Input>({ run, ...parts }: SessionToolParts<Input>): ToolProvider {
  const tool = defineTool({
    ...parts,
    // `callTool` below refuses calls without a host.
    run: (input: Input, call) => run(input, call.agents as AgentHost, call.signal),
  });
  return {
    ...tool,
    callTool(call) {
      if (call.agents !== undefined) return tool.callTool(call);
      // Before the input is checked: without a host, no input helps.
      return {
        status: 'error',
        text: `${call.tool} works with the agents of a session, and this call does not come from one.`,
      };
    },
  };
}

function labelOf({ name, agentId }: AgentInfo): string {
  return name ?? agentId;
}

/** The active agents that the caller names, each once, in the order of their first mention. */
function getAgents(host: AgentHost, namesOrIds: readonly string[]): AgentInfo[] {
  return unique(namesOrIds.map((nameOrId) => getAgent(host, nameOrId)));
}

/** `mayHaveEnded`: an agent that was terminated is not refused here, so that the session names what it is sent. */
function getAgent(host: AgentHost, nameOrId: string, mayHaveEnded = false): AgentInfo {
  const agent = host.findAgent(nameOrId);
  if (agent === null) throw new ToolRefusal(notFound(host, nameOrId));
  if (agent.agentId === host.caller.agentId)
    throw new ToolRefusal(`${nameOrId} is you: name other agents.${others(host)}`);
  if (agent.state === 'terminated' && !mayHaveEnded)
    throw new ToolRefusal(`The agent ${nameOrId} was terminated.${others(host)}`);
  return agent;
}

function unique(agents: readonly AgentInfo[]): AgentInfo[] {
  return [...new Map(agents.map((agent) => [agent.agentId, agent])).values()];
}

function notFound(host: AgentHost, nameOrId: string): string {
  const ids = host
    .listAgents()
    .filter(({ name, state }) => name === nameOrId && state === 'active')
    .map(({ agentId }) => agentId);
  if (ids.length > 1)
    return `Several agents are called ${nameOrId}: say which by its id, ${ids.join(' or ')}.`;
  return `There is no agent ${nameOrId}.${others(host)}`;
}

function others(host: AgentHost): string {
  const labels = host
    .listAgents()
    .filter(({ agentId, state }) => state === 'active' && agentId !== host.caller.agentId)
    .map(labelOf);
  return labels.length === 0 ? ' There are no other agents yet.' : ` There are: ${labels.join(', ')}.`;
}
