import {
  type AgentInfo,
  definePlugin,
  type HookAgents,
  type HookDecision,
  type HookHost,
  type HookObservation,
  type HookProvider,
  type HookQuestion,
  type JsonObject,
  type LoggedString,
} from '@hansard/provider';

export default definePlugin({
  id: 'hook-agent',
  provides: 'HookProvider',
  create: createAgentHook,
});

/** The configuration of the plugin; `plugin.json` says what each means. */
interface AgentHookConfig {
  readonly name?: string;
  readonly systemPrompt: string;
  readonly languageModel?: string;
  readonly observe?: readonly HookObservation['what'][];
  readonly decide?: readonly HookQuestion['on'][];
  readonly tools?: readonly string[];
  readonly watched?: readonly string[];
  readonly silence?: string;
  readonly required?: boolean;
}

/**
 * A hook that is an agent: what it observes and is asked becomes a message to its agent, and the answer of its agent is sent to the
 * agent that was observed, or decides. It does nothing in a run without a session.
 */
export function createAgentHook(config: AgentHookConfig): HookProvider {
  const { name = 'hook-agent', observe = [], decide = [], required = false } = config;
  return {
    contract: 1,
    name,
    required,
    ...(decide.length === 0
      ? {}
      : {
          decidesOn: decide,
          decide: (question: HookQuestion, host: HookHost) => decideBy(config, name, question, host),
        }),
    ...(observe.length === 0
      ? {}
      : {
          observe: (observation: HookObservation, host: HookHost) =>
            observeBy(config, name, observation, host),
        }),
  };
}

async function observeBy(
  config: AgentHookConfig,
  name: string,
  { what, event }: HookObservation,
  host: HookHost,
): Promise<void> {
  const { observe = [], tools, silence = 'NOTHING' } = config;
  const { agents } = host;
  if (agents === undefined || !observe.includes(what)) return;
  const { tool } = event.data;
  if (typeof tool === 'string' && tools?.includes(tool) === false) return;
  if (isOfHook(event.data) || !isWatched(event.agentId, agents, config)) return;
  const own = await ownAgent(agents, name, config);
  const said = await agents.response(own.agentId, inWords(what, event.data, event.agentId, agents));
  if (said.trim() === silence || said.trim() === '') return;
  await host.inform(event.agentId, said, own.agentId);
}

async function decideBy(
  config: AgentHookConfig,
  name: string,
  question: HookQuestion,
  { agents }: HookHost,
): Promise<HookDecision> {
  const { decide = [], tools } = config;
  const agentId = question.on === 'delivery' ? question.to : question.agentId;
  const isMeant =
    decide.includes(question.on) &&
    (!('tool' in question) || tools?.includes(question.tool) !== false) &&
    agents !== undefined &&
    isWatched(agentId, agents, config);
  if (!isMeant) return { decision: 'allow' };
  const own = await ownAgent(agents, name, config);
  return decisionIn(await agents.response(own.agentId, questionInWords(question, agents)));
}

/** @throws TypeError if the answer is not a decision */
function decisionIn(said: LoggedString): HookDecision {
  const [, word, reason = ''] = /^\s*(ALLOW|DENY|RETRY)\b[\s.:,–-]*(.*)$/s.exec(said.text) ?? [];
  if (word === 'ALLOW') return { decision: 'allow' };
  const decision = { reason: reason.trim(), cause: said.messageId };
  if (word === 'DENY') return { decision: 'deny', ...decision };
  if (word === 'RETRY') return { decision: 'retry', ...decision };
  throw new TypeError('its agent answered none of ALLOW, DENY and RETRY.');
}

function ownAgent(
  agents: HookAgents,
  name: string,
  { systemPrompt, languageModel }: AgentHookConfig,
): Promise<AgentInfo> {
  return agents.createAgent({
    name,
    systemPrompt,
    ...(languageModel === undefined ? {} : { languageModel }),
  });
}

function isOfHook({ source }: JsonObject): boolean {
  return (source as JsonObject | undefined)?.hook !== undefined;
}

/** Agents of hooks are not watched. */
function isWatched(agentId: string | undefined, agents: HookAgents, { watched }: AgentHookConfig): boolean {
  const agent = agents.listAgents().find((one) => one.agentId === agentId);
  if (agent?.hook !== undefined) return false;
  if (watched === undefined) return true;
  return agent !== undefined && (watched.includes(agent.agentId) || watched.includes(nameOf(agent)));
}

function nameOf({ name, parentAgentId, agentId }: AgentInfo): string {
  return name ?? (parentAgentId === null ? 'root' : agentId);
}

function named(agentId: unknown, agents: HookAgents): string {
  const agent = agents.listAgents().find((one) => one.agentId === agentId);
  return agent === undefined ? String(agentId ?? 'the agent') : nameOf(agent);
}

function inWords(
  what: HookObservation['what'],
  data: JsonObject,
  agentId: string | undefined,
  agents: HookAgents,
): string {
  const who = named(agentId, agents);
  const { text = '', source, tool, input = {}, output, error } = data;
  switch (what) {
    case 'message':
      return `${who} received: ${text}`;
    case 'delivery':
      return `${named((source as JsonObject).agentId, agents)} to ${who}: ${text}`;
    case 'utterance':
      return `${who} said: ${text}`;
    case 'call':
      return `${who} calls ${tool} with ${JSON.stringify(input)}`;
    case 'result':
      return `${tool} answered ${who}: ${textOf(output ?? error ?? '')}`;
    case 'end':
    case 'notification':
      return `${what} of ${who}: ${JSON.stringify(data)}`;
  }
}

function questionInWords(question: HookQuestion, agents: HookAgents): string {
  const active = agents
    .listAgents()
    .filter(({ parentAgentId, state }) => parentAgentId !== null && state === 'active');
  const count = `Current subagent count: ${active.length}.`;
  switch (question.on) {
    case 'tool_call':
      return `Agent '${named(question.agentId, agents)}' is attempting to call ${question.tool} with ${JSON.stringify(question.input)}. ${count} Answer ALLOW, or DENY and the reason.`;
    case 'tool_result':
      return `${question.tool} answered '${named(question.agentId, agents)}': ${question.text}\nMay it be read? Answer ALLOW, or DENY and the reason.`;
    case 'delivery':
      return `Agent '${named(question.from, agents)}' says to '${named(question.to, agents)}': ${question.text}\nMay it be delivered? Answer ALLOW, or DENY and the reason.`;
    case 'utterance':
      return `Agent '${named(question.agentId, agents)}' is about to say to the person: ${question.text}\nMay it be said? Answer ALLOW, or RETRY and what should be different, or DENY and the reason.`;
    case 'input':
      return `A person says to '${named(question.agentId, agents)}': ${question.text}\nMay it be received? Answer ALLOW, or DENY and the reason.`;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
