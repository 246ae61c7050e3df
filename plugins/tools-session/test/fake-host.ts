import {
  type AgentHost,
  type AgentInfo,
  type Delivery,
  LoggedString,
  type NewAgent,
} from '@hansard/provider';

export interface FakeHost extends AgentHost {
  /** What happened, a line each, in order. */
  readonly happened: string[];
  readonly created: NewAgent[];
  readonly deliveries: { readonly to: string; readonly delivery: Delivery }[];
}

interface FakeHostOptions {
  readonly callerName?: string;
  /** What each agent says, in order. */
  readonly says?: Readonly<Record<string, readonly string[]>>;
  /** Why nothing is delivered to an agent. */
  readonly denied?: Readonly<Record<string, string>>;
  readonly respond?: AgentHost['respond'];
}

export function agent(name: string | null, rest: Partial<AgentInfo> = {}): AgentInfo {
  return {
    agentId: `agent_${name ?? 'root'}`,
    name,
    languageModel: null,
    parentAgentId: name === null ? null : 'agent_root',
    state: 'active',
    ...rest,
  };
}

/** A session in which everything succeeds at once, unless it is denied. */
export function fakeHost(agents: readonly AgentInfo[], options: FakeHostOptions = {}): FakeHost {
  const { callerName, says = {}, denied = {} } = options;
  const all = [agent(null), ...agents];
  const happened: string[] = [];
  const created: NewAgent[] = [];
  const deliveries: FakeHost['deliveries'] = [];
  const turns = new Map<string, number>();
  let pieces = 0;
  const find = (nameOrId: string): AgentInfo | null => {
    const fitting = all.filter(({ agentId, name }) => agentId === nameOrId || name === nameOrId);
    return fitting.length === 1 ? (fitting[0] ?? null) : null;
  };
  const caller = find(callerName ?? 'agent_root');
  if (caller === null) throw new Error(`the test has no agent ${callerName}`);
  return {
    caller,
    happened,
    created,
    deliveries,
    listAgents: () => all,
    findAgent: find,
    async createAgent(wanted) {
      created.push(wanted);
      const child = agent(wanted.name ?? null, { parentAgentId: caller.agentId });
      all.push(child);
      return child;
    },
    async terminateAgent() {
      throw new Error('no tool of this package terminates an agent');
    },
    async logPieceOfText(text) {
      happened.push(`piece: ${text}`);
      return new LoggedString(String(text), `piece_${++pieces}`);
    },
    async deliver(to, delivery) {
      deliveries.push({ to, delivery });
      const name = all.find(({ agentId }) => agentId === to)?.name ?? to;
      const reason = denied[name];
      happened.push(`${reason === undefined ? 'to' : 'denied to'} ${name}: ${delivery.text}`);
      return reason === undefined
        ? { status: 'delivered', text: String(delivery.text), messageId: `message_${deliveries.length}` }
        : { status: 'denied', text: null, messageId: null, reason };
    },
    respond:
      options.respond ??
      (async (agentId) => {
        const name = all.find((one) => one.agentId === agentId)?.name ?? agentId;
        const turn = turns.get(name) ?? 0;
        turns.set(name, turn + 1);
        const text = says[name]?.[turn] ?? `${name} ${turn + 1}`;
        happened.push(`${name} says: ${text}`);
        return new LoggedString(text, `${name}_${turn + 1}`);
      }),
  };
}
