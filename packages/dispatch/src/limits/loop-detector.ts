import type { EventData, EventOf } from '@hansard/events';

export interface LoopLimits {
  /** How many of the latest tool calls are compared. */
  readonly window: number;
  /** At how many equal calls among them a warning is recorded, once per call. */
  readonly warnAt: number;
  /** At how many the agent is stopped. */
  readonly killAt: number;
}

/** An agent that edits and tests in turns makes ten equal calls in twenty. It gets a warning and continues. */
export const defaultLoopLimits: LoopLimits = { window: 20, warnAt: 8, killAt: 15 };

export interface LoopFinding {
  readonly act: 'warn' | 'kill';
  readonly data: EventData<'harness:loop_warning'>;
}

/** Notices an agent that makes the same call again and again: same tool, target, metadata and input. */
export class LoopDetector {
  readonly #limits: LoopLimits;
  readonly #latest: string[] = [];
  readonly #warnedOf = new Set<string>();

  constructor(limits: LoopLimits) {
    this.#limits = limits;
  }

  observe(call: EventOf<'agent:tool_call'>): LoopFinding | null {
    const { window, warnAt, killAt } = this.#limits;
    const fingerprint = fingerprintOf(call);
    this.#latest.push(fingerprint);
    if (this.#latest.length > window) this.#latest.shift();
    const count = this.#latest.filter((other) => other === fingerprint).length;
    if (count >= killAt) return { act: 'kill', data: this.#describe(call, count, killAt) };
    if (count < warnAt || this.#warnedOf.has(fingerprint)) return null;
    this.#warnedOf.add(fingerprint);
    return { act: 'warn', data: this.#describe(call, count, warnAt) };
  }

  #describe(call: EventOf<'agent:tool_call'>, count: number, limit: number): LoopFinding['data'] {
    const { tool, target } = call.data;
    return { tool, ...(target === undefined ? {} : { target }), count, limit, window: this.#limits.window };
  }
}

function fingerprintOf({ agentId, data }: EventOf<'agent:tool_call'>): string {
  const { tool, target, metadata, input } = data;
  const call = JSON.stringify([agentId ?? null, tool, target ?? null, metadata, input ?? null]);
  // Loaded with the first call: it takes longer to load than the rest of this package.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(call).digest('base64');
}
