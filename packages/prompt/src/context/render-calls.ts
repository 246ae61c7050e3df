import type { CapturedEvent, DispatchEnvelope, HansardError } from '@hansard/events';
import { isPlainEvent } from '@hansard/events/plain';
import {
  isStraightEvent,
  type PathMark,
  type TranscriptPath,
  TranscriptTree,
} from '../tree/transcript-tree.ts';
import { type ContextManifest, contextErrors, readContextManifest } from './context-manifest.ts';
import type { ContextPolicy, TokenCounter } from './context-policy.ts';
import {
  type ContextOptions,
  type ContextRenderer,
  createBranchRenderer,
  createContextRenderer,
} from './context-renderer.ts';
import { givenThrough } from './given-order.ts';
import { type CallRequest, LoggedRequests, rootOf } from './logged-requests.ts';
import type { RenderedContext } from './shared-messages.ts';

export interface RenderCallsOptions {
  /** Selects calls. Absent: all. */
  readonly only?: (inference: CapturedEvent) => boolean;
  /** The counters that manifests name by id. The first one is used for calls without a manifest. */
  readonly counters?: readonly TokenCounter[];
  /** For calls without a manifest, and with `isOwnPolicy` for all calls. Absent: `{ name: 'full' }`. */
  readonly policy?: ContextPolicy;
  /** Renders all calls by `policy`, including those whose manifest has another policy. Absent: false. */
  readonly isOwnPolicy?: boolean;
}

/**
 * How it is known what a model was given. `recorded`: the `agent:inference` of the answer has a manifest.
 * `reconstructed`: from the order of the transcript and the compactions that the source records.
 */
export type Basis = 'recorded' | 'reconstructed';

/** A model call and its prompt, rendered again from the log. */
export interface RenderedCall extends RenderedContext {
  readonly inference: CapturedEvent;
  /** '' for a dispatched agent without an id. */
  readonly agentId: string;
  /** The recorded manifest; null: none, and the prompt was rendered by `policy`. */
  readonly recorded: ContextManifest | null;
  /** `reconstructed`: the log does not record what the model was given. */
  readonly basis: Basis;
  /** The tools and parameters that the model was given beside the messages, as far as the log has them. */
  readonly request: CallRequest;
}

interface Call {
  readonly inference: CapturedEvent;
  readonly agentId: string;
  readonly recorded: ContextManifest | null;
  /** The first block of its answer; the `agent:inference` if there is none. */
  readonly answer: string;
  readonly request: CallRequest;
}

/**
 * The prompts of the model calls of a dispatch, in one pass over its events, in append order. A call with a manifest is
 * rendered by that manifest, from the branch that was current then. A call without a manifest is rendered from the events before its answer.
 *
 * @throws CONTEXT_MANIFEST_UNKNOWN for a manifest of another version, with a counter that is not in `counters`, or
 * through an event that is not in the log; otherwise as `renderContext`
 */
export function* renderCalls(
  events: readonly CapturedEvent[],
  options: RenderCallsOptions = {},
): Generator<RenderedCall, void> {
  const root = rootOf(events);
  const branches = branchesIn(events, root);
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

  const branchRenderers = new Map<string, BranchRenderer>();
  function branchRenderer({ agentId, recorded, answer }: Call): ContextRenderer {
    const given = recorded === null ? undefined : recorded.through;
    const mark =
      (given === undefined ? branches?.markBefore(answer) : branches?.markAfter(agentId, given ?? answer)) ??
      null;
    const key = `${agentId} ${keyOf(recorded, options)}`;
    const known = branchRenderers.get(key);
    const place: RenderedPlace = { mark: given === null ? null : mark, through: given };
    if (known !== undefined && goOn(known, place, branches)) return known.renderer;
    const path = place.mark === null ? nothing : (branches?.pathAt(place.mark) ?? nothing);
    const renderer =
      rendererOn(path, known) ?? newRenderer(branches, path, contextOptions(recorded, options));
    branchRenderers.set(key, { renderer, path: { ...path, values: [...path.values] }, ...place });
    return renderer;
  }

  // Before the first event of an agent, all renderers that need its events are known.
  const ofAgent = new Map<string, Set<ContextRenderer>>();
  for (const call of [...waiting.values()].flat()) {
    if (branches?.isStraight(call.agentId) === false) continue;
    const known = ofAgent.get(call.agentId) ?? new Set();
    ofAgent.set(call.agentId, known.add(rendererOf(call)));
  }
  function* due(key: string): Generator<RenderedCall> {
    for (const call of waiting.get(key) ?? []) {
      const isStraight = branches?.isStraight(call.agentId) !== false;
      const renderer = isStraight ? rendererOf(call) : branchRenderer(call);
      yield renderedCall(call, renderer.render());
    }
    waiting.delete(key);
  }

  for (const event of events) {
    const agentId = event.agentId ?? root;
    const observers = ofAgent.get(agentId);
    const isBranched = branches?.isStraight(agentId) === false;
    if ((observers === undefined && !isBranched) || !isPlainEvent(event)) continue;
    if (!started.has(agentId)) yield* due(nothingBefore(agentId));
    started.add(agentId);
    for (const renderer of observers ?? []) renderer.observe(event);
    yield* due(event.id);
  }
  const [lost] = [...waiting.values()].flat();
  if (lost !== undefined)
    throw unknown(
      lost.inference,
      `goes through the event ${lost.recorded?.through}, which is not in the log`,
    );
}

/** Where the prompt of a call on a branch ends. */
interface RenderedPlace {
  /** Null: the prompt has nothing. */
  mark: PathMark<CapturedEvent> | null;
  /** The last event that the call was given; undefined: not recorded. */
  through: string | null | undefined;
}

/** A renderer that rendered the prompt of a call on a branch. */
interface BranchRenderer extends RenderedPlace {
  readonly renderer: ContextRenderer;
  readonly path: TranscriptPath<CapturedEvent> & { readonly values: CapturedEvent[] };
}

/**
 * Whether the agent only continued since the renderer rendered a prompt. The renderer then has what was added. If not, the paths must be compared: the cost
 * of that depends on their length.
 */
function goOn(
  known: BranchRenderer,
  { mark, through }: RenderedPlace,
  branches: TranscriptTree<CapturedEvent> | null,
): boolean {
  if (known.mark === null || mark === null || known.path.cut.size > 0) return false;
  const added = branches?.addedBetween(known.mark, mark, known.path.takenBack) ?? null;
  if (added === null || !isSettled(added, known.through)) return false;
  for (const event of added) known.renderer.observe(event);
  known.path.values.push(...added);
  known.mark = mark;
  known.through = through;
  return true;
}

/** A renderer that goes to the end of a path; null: it has something else. */
function rendererOn(
  path: TranscriptPath<CapturedEvent>,
  known: BranchRenderer | undefined,
): ContextRenderer | null {
  const added = known === undefined ? null : addedTo(known, path);
  for (const event of added ?? []) known?.renderer.observe(event);
  return added === null || known === undefined ? null : known.renderer;
}

function newRenderer(
  branches: TranscriptTree<CapturedEvent> | null,
  path: TranscriptPath<CapturedEvent>,
  options: ContextOptions,
): ContextRenderer {
  return createBranchRenderer(path, options, (id) => branches?.numberOf(id) ?? null);
}

/**
 * What a path has after the path of a renderer. Null: the renderer has something else. A call that was open when the renderer rendered another
 * prompt can have moved messages that were rendered.
 */
function addedTo(
  { path: known, through }: BranchRenderer,
  path: TranscriptPath<CapturedEvent>,
): readonly CapturedEvent[] | null {
  const { length } = known.values;
  const isWhole = known.cut.size === 0 && path.cut.size === 0;
  if (!isWhole || !isSame(known.takenBack, path.takenBack)) return null;
  if (known.values.some((event, at) => event !== path.values[at])) return null;
  const added = path.values.slice(length);
  return isSettled(added, through) ? added : null;
}

/** Whether no call among the added events was given less than the renderer has rendered. */
function isSettled(added: readonly CapturedEvent[], through: string | null | undefined): boolean {
  const ids = new Set(added.map(({ id }) => id));
  return added.every((event) => {
    const given = givenThrough(event);
    return given === undefined || given === through || (given !== null && ids.has(given));
  });
}

const nothing = { values: [], takenBack: new Set<string>(), cut: new Set<string>(), isKnown: true };

/** The transcripts of a log as trees; null: no agent has more than one branch. */
function branchesIn(events: readonly CapturedEvent[], root: string): TranscriptTree<CapturedEvent> | null {
  if (events.every(isStraightEvent)) return null;
  const tree = new TranscriptTree<CapturedEvent>(({ agentId = root }) => agentId);
  for (const event of events) if (isPlainEvent(event)) tree.add(event, event);
  return tree;
}

/** Getters, because spreading the context would copy the messages of every call. */
function renderedCall(call: Call, context: RenderedContext): RenderedCall {
  return {
    ...call,
    basis: call.recorded === null ? 'reconstructed' : 'recorded',
    manifest: context.manifest,
    get messages() {
      return context.messages;
    },
    get added() {
      return context.added;
    },
  };
}

/** The calls by the id of the last event in their prompt. */
function callsByLastEvent(
  events: readonly CapturedEvent[],
  root: string,
  { only = () => true }: RenderCallsOptions,
): Map<string, Call[]> {
  const calls = new Map<string, Call[]>();
  const latest = new Map<string, string>();
  /** The event before each message, by agent and message. */
  const before = new Map<string, string>();
  const answers = new Map<string, string>();
  const requests = new LoggedRequests();
  for (const event of events) {
    requests.observe(event);
    const agentId = event.agentId ?? root;
    const previous = latest.get(agentId) ?? nothingBefore(agentId);
    const message = `${agentId} ${event.messageId ?? event.id}`;
    if (!before.has(message)) before.set(message, previous);
    if (!answers.has(message)) answers.set(message, event.id);
    if (event.type === 'agent:inference' && only(event)) {
      const recorded = readContextManifest(event);
      const last = recorded === null ? (before.get(message) ?? previous) : recorded.through;
      const key = last ?? nothingBefore(agentId);
      const known = calls.get(key) ?? [];
      const answer = answers.get(message) ?? event.id;
      known.push({ inference: event, agentId, recorded, answer, request: requests.of(event) });
      calls.set(key, known);
    }
    if (isPlainEvent(event)) latest.set(agentId, event.id);
  }
  return calls;
}

/** A key that is not the id of an event, because an id contains no space. */
function nothingBefore(agentId: string): string {
  return `before ${agentId}`;
}

function keyOf(recorded: ContextManifest | null, { isOwnPolicy = false }: RenderCallsOptions): string {
  return recorded === null || isOwnPolicy
    ? 'own'
    : JSON.stringify([recorded.policy, recorded.tokens?.counter]);
}

function contextOptions(recorded: ContextManifest | null, options: RenderCallsOptions) {
  const { counters = [], policy, isOwnPolicy = false } = options;
  const [first] = counters;
  if (recorded === null || isOwnPolicy)
    return { ...(policy === undefined ? {} : { policy }), ...(first === undefined ? {} : { tokens: first }) };
  const counter = counters.find(({ id }) => id === recorded.tokens?.counter);
  if (counter === undefined && recorded.policy.name === 'faded')
    throw contextErrors.error(
      'CONTEXT_MANIFEST_UNKNOWN',
      `A context was fitted into its budget with the counter ${recorded.tokens?.counter}, which is not available, so it can't be rendered again. Give that counter.`,
      { details: { counter: recorded.tokens?.counter } },
    );
  return { policy: recorded.policy, ...(counter === undefined ? {} : { tokens: counter }) };
}

function unknown({ id }: CapturedEvent, what: string): HansardError {
  return contextErrors.error(
    'CONTEXT_MANIFEST_UNKNOWN',
    `The context of ${id} ${what}: the log is incomplete.`,
    {
      details: { eventId: id },
    },
  );
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((id) => other.has(id));
}

/** The differences between a recorded context and the same context rendered again, one line each; empty: none. */
export function compareContexts(recorded: ContextManifest, again: ContextManifest): string[] {
  const differences: string[] = [];
  const compare = (what: string, was: unknown, is: unknown) => {
    if (was !== is) differences.push(`${what}: recorded ${was}, rendered ${is}`);
  };
  compare('hash', recorded.hash, again.hash);
  compare('messages', recorded.messages, again.messages);
  if (again.tokens !== null) compare('tokens', recorded.tokens?.prompt, again.tokens.prompt);
  return differences;
}

interface ContextVerification {
  /** Whether the context was rendered to the recorded hash; null: the log has no record to compare with. */
  readonly isSame: boolean | null;
  /** The same in words. */
  readonly text: string;
}

/** Compares the context of a model call, rendered again, with its recorded manifest. */
export function verificationOf({ inference, recorded, manifest }: RenderedCall): ContextVerification {
  if (recorded === null)
    return {
      isSame: null,
      text: `The log has no record of the context of ${inference.id}, so there is nothing to compare.`,
    };
  const differences = compareContexts(recorded, manifest);
  return differences.length === 0
    ? { isSame: true, text: `Identical: ${manifest.messages} messages, ${manifest.hash}.` }
    : {
        isSame: false,
        text: `The rendered context differs from the recorded one: ${differences.join('; ')}.`,
      };
}

/** Why the contexts of a dispatch are unknown, in words; null: its log is full. */
export function unknownContext({ fidelity, dispatchId }: DispatchEnvelope): string | null {
  return fidelity === 'full'
    ? null
    : `The dispatch ${dispatchId} was recorded as a narrative: the input and output of its tools are not in the log, so the context of its model is unknown.`;
}

/**
 * What a reader must know of the markers of redaction in a context, in words; null: it has none. Models of sessions are given the text of
 * the log, so the recorded hash is of the redacted text, unless secrets were replaced in the log later.
 */
export function redactionNote(rendered: RenderedCall, isRedactedLater: boolean): string | null {
  const markers = JSON.stringify(rendered.messages).match(/\[REDACTED:[A-Za-z0-9_.-]{1,100}\]/g)?.length ?? 0;
  if (markers === 0) return null;
  const count = `The context has ${markers} ${markers === 1 ? 'marker' : 'markers'} of redaction.`;
  if (isRedactedLater)
    return `${count} Secrets were replaced in this log later, so a recorded hash can be of the text before.`;
  if (verificationOf(rendered).isSame !== true) return count;
  return `${count} Its hash is of the redacted text, which the model received.`;
}
