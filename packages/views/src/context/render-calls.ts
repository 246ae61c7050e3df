import type { CapturedEvent } from '@hansard/events';
import { isPlainEvent } from '@hansard/events/plain';
import { ContextError } from './context-error.ts';
import type { ContextManifest } from './context-manifest.ts';
import type { ContextPolicy } from './context-policy.ts';
import { type ContextRenderer, createContextRenderer } from './context-renderer.ts';
import { readContextManifest } from './read-context-manifest.ts';
import type { RenderedContext } from './rendered-context.ts';
import { rootOf } from './root-of.ts';
import type { TokenCounter } from './token-counter.ts';

export interface RenderCallsOptions {
  /** Which calls. Absent: all. */
  readonly only?: (inference: CapturedEvent) => boolean;
  /** Those whose ids manifests may name, and the first for what has no manifest. */
  readonly counters?: readonly TokenCounter[];
  /** How to render what the log has no manifest of, or, with `isOwnPolicy`, everything. Absent: `{ name: 'full' }`. */
  readonly policy?: ContextPolicy;
  /** Renders by `policy` also where a manifest names another: what the model would have seen. Absent: false. */
  readonly isOwnPolicy?: boolean;
}

/** One model call with what the model saw, rendered again from the log. */
export interface RenderedCall extends RenderedContext {
  readonly inference: CapturedEvent;
  /** '' for the dispatched agent itself where it has no id. */
  readonly agentId: string;
  /** As it was recorded; null: the log does not say what the model saw, and this is what it would see. */
  readonly recorded: ContextManifest | null;
}

interface Call {
  readonly inference: CapturedEvent;
  readonly agentId: string;
  readonly recorded: ContextManifest | null;
}

/**
 * What the model saw at each call of a dispatch, in one pass over its events, in append order. A call with a manifest is
 * rendered as it was then; one without, from what the agent's log had before the answer.
 *
 * @throws CONTEXT_MANIFEST_UNKNOWN for a manifest of another version, with a counter that is not given, or through an
 * event that the log does not have; otherwise as `renderContext`
 */
export function* renderCalls(
  events: readonly CapturedEvent[],
  options: RenderCallsOptions = {},
): Generator<RenderedCall, void> {
  const root = rootOf(events);
  const waiting = callsByLastEvent(events, root, options);
  const renderers = new Map<string, ContextRenderer>();
  const started = new Set<string>();

  function rendererOf({ agentId, recorded }: Call): ContextRenderer {
    const key = `${agentId} ${keyOf(recorded, options)}`;
    let renderer = renderers.get(key);
    if (renderer === undefined) {
      renderer = createContextRenderer(contextOptions(recorded, options));
      renderers.set(key, renderer);
    }
    return renderer;
  }

  // The renderers that an agent's events go to are known before the first of them.
  const ofAgent = new Map<string, Set<ContextRenderer>>();
  for (const call of [...waiting.values()].flat()) {
    const known = ofAgent.get(call.agentId) ?? new Set();
    ofAgent.set(call.agentId, known.add(rendererOf(call)));
  }
  function* due(key: string): Generator<RenderedCall> {
    for (const call of waiting.get(key) ?? []) yield renderedCall(call, rendererOf(call).render());
    waiting.delete(key);
  }

  for (const event of events) {
    const agentId = event.agentId ?? root;
    const observers = ofAgent.get(agentId);
    if (observers === undefined || !isPlainEvent(event)) continue;
    if (!started.has(agentId)) yield* due(nothingBefore(agentId));
    started.add(agentId);
    for (const renderer of observers) renderer.observe(event);
    yield* due(event.id);
  }
  const [lost] = [...waiting.values()].flat();
  if (lost !== undefined)
    throw unknown(
      lost.inference,
      `goes through an event, ${lost.recorded?.through}, that the log does not have`,
    );
}

/** Spread, a context would make its messages for each call, asked for or not. */
function renderedCall(call: Call, context: RenderedContext): RenderedCall {
  return {
    ...call,
    manifest: context.manifest,
    get messages() {
      return context.messages;
    },
    get added() {
      return context.added;
    },
  };
}

/** The calls by the last event that the model saw. */
function callsByLastEvent(
  events: readonly CapturedEvent[],
  root: string,
  { only = () => true }: RenderCallsOptions,
): Map<string, Call[]> {
  const calls = new Map<string, Call[]>();
  const latest = new Map<string, string>();
  /** The event before each message, by agent and message. */
  const before = new Map<string, string>();
  for (const event of events) {
    const agentId = event.agentId ?? root;
    const previous = latest.get(agentId) ?? nothingBefore(agentId);
    const message = `${agentId} ${event.messageId ?? event.id}`;
    if (!before.has(message)) before.set(message, previous);
    if (event.type === 'agent:inference' && only(event)) {
      const recorded = readContextManifest(event);
      const last = recorded === null ? (before.get(message) ?? previous) : recorded.through;
      const key = last ?? nothingBefore(agentId);
      const known = calls.get(key) ?? [];
      known.push({ inference: event, agentId, recorded });
      calls.set(key, known);
    }
    if (isPlainEvent(event)) latest.set(agentId, event.id);
  }
  return calls;
}

/** No id of an event has a space in it. */
function nothingBefore(agentId: string): string {
  return `before ${agentId}`;
}

function keyOf(recorded: ContextManifest | null, { isOwnPolicy = false }: RenderCallsOptions): string {
  return recorded === null || isOwnPolicy
    ? 'own'
    : JSON.stringify([recorded.rendererVersion, recorded.policy, recorded.tokens?.counter]);
}

function contextOptions(recorded: ContextManifest | null, options: RenderCallsOptions) {
  const { counters = [], policy, isOwnPolicy = false } = options;
  const [first] = counters;
  if (recorded === null || isOwnPolicy)
    return { ...(policy === undefined ? {} : { policy }), ...(first === undefined ? {} : { tokens: first }) };
  const counter = counters.find(({ id }) => id === recorded.tokens?.counter);
  if (counter === undefined && recorded.policy.name === 'faded')
    throw new ContextError(
      'CONTEXT_MANIFEST_UNKNOWN',
      `A context was fitted into its budget by the counter ${recorded.tokens?.counter}, which is not here: it can't be rendered again. Give that counter.`,
      { details: { counter: recorded.tokens?.counter } },
    );
  const { policy: recordedPolicy, rendererVersion } = recorded;
  return { policy: recordedPolicy, rendererVersion, ...(counter === undefined ? {} : { tokens: counter }) };
}

function unknown({ id }: CapturedEvent, what: string): ContextError {
  return new ContextError('CONTEXT_MANIFEST_UNKNOWN', `The context of ${id} ${what}: the log is not whole.`, {
    details: { eventId: id },
  });
}
