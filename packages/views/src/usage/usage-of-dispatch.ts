import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { AgentRoster } from '../addresses/agent-roster.ts';
import { modelInWords } from '../task/call-terms.ts';
import { spendingOf, unpricedOf } from '../task/spending.ts';
import { type Tokens, tokensOf } from '../task/tokens-of.ts';
import { openCallEvents, withOpenCalls } from '../task/with-open-calls.ts';
import { isReadableAs } from '../transcript/is-readable-as.ts';
import { type UsageFigures, UsageSums } from './usage-sums.ts';

/** What an envelope says of its dispatch, without child dispatches. */
export function figuresOfDispatch(recorded: DispatchEnvelope): Partial<UsageFigures> {
  const envelope = withOpenCalls(recorded);
  const { costUsd, estimatedUsd, unpriced } = spendingOf(envelope);
  const { usage, models } = envelope;
  return {
    dispatches: 1,
    failures: envelope.status === 'crashed' || envelope.status === 'aborted' ? 1 : 0,
    calls: models === null ? null : models.reduce((sum, { calls }) => sum + calls, 0),
    ...(usage === null ? {} : tokenFigures(usage)),
    costUsd,
    estimatedUsd,
    unpriced,
    durationMs: usage?.durationMs ?? null,
  };
}

/**
 * Adds what each model of a dispatch used, calls with special terms apart: `claude-opus-4-6 (fast)`. Without figures by model, all is of the model of the dispatch. What is known of the dispatch
 * and of none of its several models, such as its cost, is added to the key ''.
 */
export function addModels(sums: UsageSums, recorded: DispatchEnvelope): void {
  const envelope = withOpenCalls(recorded);
  const { models, cost, prices } = envelope;
  const [only] = models ?? [];
  if (models === null || only === undefined) {
    sums.add(envelope.model ?? '', figuresOfDispatch(envelope));
    return;
  }
  const hasCosts = models.some(({ costUsd }) => costUsd !== undefined);
  for (const row of models) {
    const { calls, costUsd, estimatedUsd, ...usage } = row;
    sums.add(modelInWords(row), {
      dispatches: 1,
      calls,
      ...tokenFigures(usage),
      costUsd: costUsd ?? (models.length === 1 ? cost : null),
      // A cost that the log states for the dispatch includes these calls.
      estimatedUsd: cost === null ? (estimatedUsd ?? null) : null,
      unpriced: cost === null && prices !== null ? unpricedOf([row]) : [],
    });
  }
  if (models.length > 1 && !hasCosts && cost !== null) sums.add('', { costUsd: cost });
}

/** The recorded and the open calls of models of each agent of a dispatch. */
export class AgentUsage {
  readonly #envelope: Pick<DispatchEnvelope, 'role' | 'openCalls'>;
  readonly #roster = new AgentRoster();
  readonly #byAgent = new UsageSums();
  /** A call that is recorded again has the same id. */
  readonly #counted = new Set<string>();

  constructor(envelope: Pick<DispatchEnvelope, 'role' | 'openCalls'>) {
    this.#envelope = envelope;
  }

  observe(event: CapturedEvent): void {
    this.#roster.learn(event);
    if (!isReadableAs(event, 'agent:inference') || this.#counted.has(event.id)) return;
    this.#counted.add(event.id);
    const { usage, costUsd, durationMs } = event.data;
    this.#byAgent.add(event.agentId ?? '', {
      calls: 1,
      ...tokenFigures(usage),
      costUsd: costUsd ?? null,
      durationMs: durationMs ?? null,
    });
  }

  /** After the last event: adds them up by the name of the agent, or its id; those of the dispatched agent by its name or the role of the dispatch. */
  addTo(sums: UsageSums): void {
    for (const event of openCallEvents(this.#envelope, (id) => this.#counted.has(id))) this.observe(event);
    const names = new Map(this.#roster.agents.map(({ agentId, name }) => [agentId, name]));
    for (const { key: agentId, ...figures } of this.#byAgent.rows('key')) {
      const key = names.get(agentId) ?? (agentId === '' ? this.#envelope.role : agentId);
      sums.add(key, { ...figures, dispatches: 1 });
    }
  }
}

/** Adds the calls of each tool of a dispatch. A call without a result is one that neither failed nor took a known time. */
export class ToolUsage {
  readonly #sums: UsageSums;
  readonly #used = new Set<string>();

  constructor(sums: UsageSums) {
    this.#sums = sums;
  }

  observe(event: CapturedEvent): void {
    if (isReadableAs(event, 'agent:tool_call')) {
      const { tool } = event.data;
      this.#sums.add(tool, { calls: 1, failures: 0, ...(this.#used.has(tool) ? {} : { dispatches: 1 }) });
      this.#used.add(tool);
    } else if (isReadableAs(event, 'agent:tool_result')) {
      const { tool, status, durationMs } = event.data;
      this.#sums.add(tool, { failures: status === 'error' ? 1 : 0, durationMs: durationMs ?? null });
    }
  }
}

function tokenFigures(usage: Tokens): Partial<UsageFigures> {
  // Its counts are known: none is undefined.
  return tokensOf(usage) as Partial<UsageFigures>;
}
