import { type CapturedEvent, type EventData, isEventOf, newEvent } from '@hansard/events';
import { type AgentRecord, inWords } from '../agents/agent-record.ts';
import type { SessionRecord } from '../log/session-record.ts';
import { sessionErrors } from '../session-errors.ts';
import { isRecordedBy } from './recorded-failure.ts';

/** What a session or an agent may use. Absent: without limit. */
export interface Budget {
  /** US dollars, as the answers of the model state them. */
  readonly costUsd?: number;
  /** All tokens of model calls. */
  readonly tokens?: number;
  /** Model calls, each attempt included. */
  readonly calls?: number;
  /** The sum of the time of model calls and of tool calls, in milliseconds. */
  readonly timeMs?: number;
}

/** The budgets of a session. What was used before a load counts; a fork begins anew. */
export interface SessionBudgets {
  readonly session?: Budget & {
    /** How many agents tool calls may create. */
    readonly agents?: number;
    /** How deep agents may create agents: those that the root creates are at depth 1. */
    readonly depth?: number;
  };
  /** Of each agent that `agents` does not name. */
  readonly eachAgent?: Budget;
  /** By the name or id of an agent. */
  readonly agents?: Readonly<Record<string, Budget>>;
  /** From which share of a budget on the log has a warning, from 0 to 1. Absent: 0.8. */
  readonly warnAt?: number;
}

type Reached = EventData<'harness:budget_reached'>;

/** What was used, and the model calls that are under way. */
interface Used extends Required<Budget> {
  underWay: number;
  agents: number;
}

const whats = ['costUsd', 'tokens', 'calls', 'timeMs'] as const;

const units = {
  costUsd: 'US dollars',
  tokens: 'tokens',
  calls: 'model calls',
  timeMs: 'milliseconds',
  agents: 'agents',
  depth: 'levels of agents',
} as const;

/**
 * What a session and its agents have used, a fold over the log without what a fork repeats, and the limits of it.
 *
 * Invariant: a call begins only while every budget has something left; a call under way counts as one call. So a budget is exceeded at most by what the calls
 * use that were under way when it was reached.
 */
export class Budgets {
  readonly #budgets: SessionBudgets;
  readonly #record: SessionRecord;
  readonly #session: { -readonly [Key in keyof Used]: Used[Key] } = newUsed();
  readonly #agents = new Map<string, { -readonly [Key in keyof Used]: Used[Key] }>();
  readonly #warned = new Set<string>();
  #hasUnknownCost = false;
  #isUnknownSaid = false;

  constructor(budgets: SessionBudgets | undefined, record: SessionRecord) {
    this.#budgets = budgets ?? {};
    this.#record = record;
  }

  /** Must be called for each event before the registry observes it. */
  observe(event: CapturedEvent): void {
    const { registry } = this.#record;
    if (registry.isRepeating) return;
    const agentId = event.agentId ?? registry.root?.agentId ?? '';
    if (isEventOf(event, 'agent:inference')) {
      const { usage, costUsd, durationMs = 0 } = event.data;
      const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
      const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
      if (costUsd === undefined && tokens > 0) this.#hasUnknownCost = true;
      this.#add(agentId, { costUsd: costUsd ?? 0, tokens, calls: 1, timeMs: durationMs });
    } else if (isEventOf(event, 'agent:tool_result'))
      this.#add(agentId, { costUsd: 0, tokens: 0, calls: 0, timeMs: event.data.durationMs ?? 0 });
    else if (isEventOf(event, 'agent:created')) {
      if (event.cause !== undefined && event.data.hook === undefined) this.#session.agents += 1;
    } else if (isEventOf(event, 'harness:budget_reached') && !event.data.isSpent)
      this.#warned.add(keyOf(agentId, event.data));
  }

  /**
   * A model call of an agent begins; the returned function ends it.
   * @throws SESSION_BUDGET_SPENT, which is then in the log as `harness:budget_reached`
   */
  begin(agent: AgentRecord): () => void {
    const spent = this.#of(agent).find(({ what, used, limit }) => {
      const soFar = what === 'calls' ? used.calls + used.underWay : used[what];
      return soFar >= limit;
    });
    if (spent !== undefined) {
      const { scope, what, limit, used } = spent;
      throw this.#refuse(agent, { scope, what, limit, spent: used[what], isSpent: true });
    }
    const counted = [this.#session, this.#usedBy(agent.agentId)];
    for (const used of counted) used.underWay += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const used of counted) used.underWay -= 1;
    };
  }

  /** A tool call of an agent is about to create an agent. @throws as `begin` */
  assertMayCreate(creator: AgentRecord): void {
    const { agents, depth } = this.#budgets.session ?? {};
    const { agents: created } = this.#session;
    const level = this.#depthOf(creator) + 1;
    if (agents !== undefined && created >= agents)
      throw this.#refuse(creator, {
        scope: 'session',
        what: 'agents',
        limit: agents,
        spent: created,
        isSpent: true,
      });
    if (depth !== undefined && level > depth)
      throw this.#refuse(creator, {
        scope: 'session',
        what: 'depth',
        limit: depth,
        spent: depth,
        isSpent: true,
      });
  }

  /** Records what is nearly used. Called after a model has answered. */
  async warn(agent: AgentRecord): Promise<void> {
    const { warnAt = 0.8 } = this.#budgets;
    const { log } = this.#record;
    if (!log.isOpen) return;
    for (const { scope, what, used, limit } of this.#of(agent)) {
      const reached: Reached = { scope, what, limit, spent: used[what], isSpent: false };
      if (used[what] < limit * warnAt || this.#warned.has(keyOf(agent.agentId, reached))) continue;
      await log.append([newEvent('harness:budget_reached', reached, { agentId: agent.agentId })]);
    }
    const isLimited = this.#of(agent).some(({ what }) => what === 'costUsd');
    if (!isLimited || !this.#hasUnknownCost || this.#isUnknownSaid) return;
    this.#isUnknownSaid = true;
    const message = 'A budget in US dollars does not count some model calls: their answers state no cost.';
    await log.append([newEvent('harness:error', { message, code: 'DISPATCH_COST_UNKNOWN' })]);
  }

  #add(agentId: string, more: Required<Budget>): void {
    for (const used of [this.#session, this.#usedBy(agentId)])
      for (const what of whats) used[what] += more[what];
  }

  #usedBy(agentId: string): { -readonly [Key in keyof Used]: Used[Key] } {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const used = newUsed();
    this.#agents.set(agentId, used);
    return used;
  }

  /** The limits of an agent and of its session, with what was used. */
  #of({ agentId, name }: AgentRecord) {
    const { session = {}, eachAgent = {}, agents = {} } = this.#budgets;
    const own = agents[agentId] ?? (name === null ? undefined : agents[name]) ?? eachAgent;
    const scopes = [
      { scope: 'session', budget: session as Budget, used: this.#session as Used },
      { scope: 'agent', budget: own, used: this.#usedBy(agentId) as Used },
    ] as const;
    return scopes.flatMap(({ scope, budget, used }) =>
      whats.flatMap((what) => {
        const limit = budget[what];
        return limit === undefined ? [] : [{ scope, what, limit, used }];
      }),
    );
  }

  #depthOf(agent: AgentRecord): number {
    const { registry } = this.#record;
    const seen = new Set<string>();
    let depth = 0;
    for (
      let parent = registry.describe(agent).parentAgentId;
      parent !== null && !seen.has(parent);
      depth += 1
    ) {
      seen.add(parent);
      parent = registry.has(parent) ? registry.describe(registry.get(parent)).parentAgentId : null;
    }
    return depth;
  }

  #refuse(agent: AgentRecord, reached: Reached): Error {
    const { log } = this.#record;
    const { agentId } = agent;
    const { scope, what, limit, spent } = reached;
    const whose = scope === 'session' ? 'the session' : inWords(agent);
    const failure = sessionErrors.error(
      'SESSION_BUDGET_SPENT',
      `The budget of ${whose} is spent: ${Number(spent.toFixed(6))} of ${limit} ${units[what]}.`,
      { details: { agentId, scope, what, limit, spent } },
    );
    const id = log.createId();
    isRecordedBy(failure, id);
    if (log.isOpen) void log.append([newEvent('harness:budget_reached', reached, { id, agentId })]);
    return failure;
  }
}

function newUsed() {
  return { costUsd: 0, tokens: 0, calls: 0, timeMs: 0, underWay: 0, agents: 0 };
}

/** A warning is given once for each limit. */
function keyOf(agentId: string, { scope, what, limit }: Reached): string {
  return JSON.stringify([scope === 'session' ? null : agentId, what, limit]);
}
