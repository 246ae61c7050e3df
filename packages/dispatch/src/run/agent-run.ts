import {
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchLetter,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import { type AgentRunRequest, type Clock, systemClock } from '@hansard/provider';
import { Notifier } from '../async/notifier.ts';
import { onAbort } from '../async/until-aborted.ts';
import { LetterInbox } from '../communication/letter-inbox.ts';
import { describeFailure } from '../describe-failure.ts';
import { dispatchErrors, textOfMessage } from '../dispatch-errors.ts';
import type { Dispatch } from '../store/dispatch.ts';
import { defaultHookTimeoutMs } from '../tools/answer-in-time.ts';
import { ProjectTools } from '../tools/project-tools.ts';
import { AgentListener } from './agent-listener.ts';
import { completionUpdates, type Ending } from './completion.ts';
import type { MessageSource } from './dispatch-run.ts';
import { RunHooks } from './run-hooks.ts';
import type { RunLog } from './run-log.ts';
import type { RunDispatchOptions } from './run-options.ts';
import type { RunPlace } from './run-place.ts';
import { Watch } from './watch.ts';

const defaultGraceMs = 5_000;
const storeFailedForParent = 'the store failed for the dispatch that started it';

/** Drives the agent of one dispatch from the durable envelope to the completed one. */
export class AgentRun {
  readonly #options: RunDispatchOptions;
  readonly #clock: Clock;
  readonly #log: RunLog;
  readonly #stopSignal = new AbortController();
  readonly #graceOver = new Notifier();
  readonly #watch: Watch;
  readonly #tools: ProjectTools;
  readonly #hooks: RunHooks;
  readonly #hooksOver = new AbortController();
  readonly #listener: AgentListener;
  readonly #letters: LetterInbox;
  /** Release the timers and listeners of this run. */
  readonly #releases: (() => void)[] = [];
  /** `stopping`: the agent was asked to end. `over`: its further activities are ignored. */
  #state: 'running' | 'stopping' | 'over' = 'running';
  /** The pending write of the event that stopped the agent: an abort or a limit. */
  #kill: Promise<void> | null = null;
  #crash: { readonly error: unknown } | null = null;
  #storeFailure: { readonly error: unknown } | null = null;

  constructor(options: RunDispatchOptions, place: RunPlace, log: RunLog) {
    const { clock = systemClock, hooks = [], hookTimeoutMs = defaultHookTimeoutMs } = options;
    const { envelope } = log.dispatch;
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    this.#watch = new Watch(options, place, log.dispatch, {
      kill: (event) => this.#killFor(event),
      warn: async (event) => {
        if (this.#isRunning()) await this.#recordOwn(event);
      },
      report: (event) => this.#report(event),
      record: (event) => log.append(event),
      callEvent: (toolCallId, agentId) => this.#tools.callEvent(toolCallId, agentId),
    });
    this.#letters = new LetterInbox({
      store: options.store,
      dispatch: log.dispatch,
      take: (letter) => this.#takeLetter(letter),
      report: (notice) => this.#report(notice),
    });
    this.#hooks = new RunHooks({
      hooks,
      dispatchId: log.dispatch.dispatchId,
      time: { clock, timeoutMs: hookTimeoutMs, signal: this.#hooksOver.signal },
      maxHookChain: options.maxHookChain,
      record: (event) => log.append(event),
      send: (message) => this.#send(message),
    });
    log.onRecorded((event) => this.#hooks.observe(event));
    this.#tools = new ProjectTools({
      log: log.dispatch,
      toolbox: place.family.toolbox,
      hooks,
      part: (hook, _question, causes) => this.#hooks.part(hook, causes),
      hookTimeoutMs,
      clock,
      dispatches: this.#watch.workers,
      record: (event) => this.#recordOwn(event),
    });
    this.#listener = new AgentListener({
      agent: options.agent,
      request: agentRequest(options, envelope, this.#watch.messages, this.#stopSignal.signal, this.#tools),
      log,
      tools: this.#tools,
      watch: this.#watch,
      isListening: () => this.#state !== 'over' && this.#storeFailure === null,
      onFault: (error, whose) => (whose === 'agent' ? this.#crashFor(error) : this.#failForStore(error)),
    });
  }

  get #dispatch(): Dispatch {
    return this.#log.dispatch;
  }

  /** `completed` resolves when the dispatch itself has ended, `ended` when its workers have ended too. */
  drive(): { readonly completed: Promise<DispatchEnvelope>; readonly ended: Promise<DispatchEnvelope> } {
    const completed = this.#untilCompleted();
    // The signal counts until the workers have ended too.
    const ignore = onAbort(this.#options.signal, (reason) => this.abort(reason, 'signal'));
    // `ended` rejects with the same error.
    completed.catch((error) => {
      this.#dispatch.fail(error);
      this.#abortWorkers(storeFailedForParent);
    });
    return { completed, ended: this.#untilOver(completed).finally(ignore) };
  }

  async #untilOver(completed: Promise<DispatchEnvelope>): Promise<DispatchEnvelope> {
    const [own] = await Promise.allSettled([completed]);
    const [below] = await Promise.allSettled([this.#watch.workers?.over()]);
    if (own.status === 'rejected') throw own.reason;
    if (below.status === 'rejected') throw below.reason;
    return own.value;
  }

  async #untilCompleted(): Promise<DispatchEnvelope> {
    const detach = this.#watch.attach({
      abort: (reason) => this.abort(reason, 'user'),
      isOpen: () => this.#isRunning(),
      ...(this.#takesMessages
        ? {
            deliver: (text: string, source: MessageSource, cause?: string) =>
              this.deliver(text, source, cause),
          }
        : {}),
    });
    this.#dispatch.announce();
    try {
      const prompted = this.#recordPrompt();
      this.#watch.start();
      // A slow store does not count as silence of the agent.
      this.#watch.watchSilence(() => !this.#listener.isAwaited);
      await prompted;
      void this.#letters.start();
      const ending = await this.#untilEnd();
      const completedAt = this.#log.endsAt(this.#clock.now());
      const { completion } = this.#dispatch.facts;
      return await this.#dispatch.end(completionUpdates(completion, ending, completedAt));
    } finally {
      this.#finish();
      detach();
    }
  }

  async send(given: string, source: MessageSource = { kind: 'user' }): Promise<void> {
    const text = textOfMessage(given, this.#dispatch.dispatchId);
    await this.#send(newEvent('user:message', { text, source }));
  }

  /** @throws DISPATCH_ENDED */
  async #send(message: NewEvent): Promise<CapturedEvent> {
    const sent = await this.#deliver(message);
    if (sent !== null) return sent;
    const ending = this.#state === 'over' ? 'has ended' : 'is ending';
    const state = this.#takesMessages
      ? `${ending} and takes no more messages`
      : 'takes no messages: its agent reads none';
    const { dispatchId, envelope } = this.#dispatch;
    throw dispatchErrors.error(
      'DISPATCH_ENDED',
      `The dispatch ${dispatchId} of ${envelope.role} ${state}; start a new one.`,
      { details: { dispatchId } },
    );
  }

  get #takesMessages(): boolean {
    return this.#options.agent.takesMessages !== false;
  }

  /** Delivers a message to the agent. Returns false if the agent takes no more. */
  async deliver(text: string, source: MessageSource, cause?: string): Promise<boolean> {
    const links = cause === undefined ? {} : { cause };
    return (await this.#deliver(newEvent('user:message', { text, source }, links))) !== null;
  }

  async #deliver(message: NewEvent): Promise<CapturedEvent | null> {
    if (!this.#isRunning() || !this.#takesMessages) return null;
    const recorded = await this.#log.append(message);
    this.#watch.received(recorded);
    // The agent may have been stopped while the message was recorded.
    return this.#isRunning() ? recorded : null;
  }

  abort(reason?: string, by?: string): void {
    this.#killFor(
      newEvent('harness:abort', {
        ...(reason === undefined ? {} : { reason }),
        ...(by === undefined ? {} : { by }),
      }),
    );
    // Includes the workers that continue after the dispatch has ended.
    this.#watch.workers?.abort(reason, by);
  }

  async #recordPrompt(): Promise<void> {
    const { prompt, promptSource, priorOutcomes, parentDispatchId } = this.#options;
    if (priorOutcomes !== undefined && priorOutcomes.text !== '') {
      const { text, dispatchIds } = priorOutcomes;
      await this.#log.append(newEvent('agent:system_prompt', { text, outcomesOf: [...dispatchIds] }));
    }
    if (prompt === undefined) return;
    const asker: MessageSource =
      parentDispatchId === undefined ? { kind: 'user' } : { kind: 'agent', dispatchId: parentDispatchId };
    const source = promptSource ?? asker;
    await this.#log.append(newEvent('user:message', { text: prompt, source }));
  }

  async #untilEnd(): Promise<Ending> {
    if (this.#isRunning()) await Promise.race([this.#listen(), this.#graceOver.wait()]);
    this.#finish();
    await this.#kill;
    if (this.#storeFailure !== null) throw this.#storeFailure.error;
    await this.#warnOfCost();
    if (this.#kill === null && this.#crash !== null)
      await this.#log.append(newEvent('harness:error', describeFailure(this.#crash.error)));
    await this.#untilObserved();
    if (this.#kill !== null) return 'aborted';
    return this.#crash === null ? 'ended' : 'crashed';
  }

  /** An engine may state the cost of all its calls at its end. */
  async #warnOfCost(): Promise<void> {
    if (this.#dispatch.facts.costUsd !== null) return;
    const warning = this.#watch.costWarning(this.#watch.uncountedModels);
    if (warning !== null) await this.#log.append(warning);
  }

  /** Hooks observe the whole log. A run that was stopped does not wait for them. */
  async #untilObserved(): Promise<void> {
    const drained = this.#hooks.finish().then(() => this.#hooksOver.abort());
    if (this.#kill === null) await drained;
  }

  /** Never rejects: the error is kept. */
  async #listen(): Promise<void> {
    try {
      await this.#listener.listen();
    } catch (error) {
      this.#crash ??= { error };
    }
  }

  /** Repeats a letter of another process. False: it stays. */
  async #takeLetter({ from: id, text, source, agentId, abort }: DispatchLetter): Promise<boolean> {
    if (agentId !== undefined || !this.#isRunning()) return false;
    if (abort !== true)
      return (await this.#deliver(newEvent('user:message', { text: text ?? '', source }, { id }))) !== null;
    const data = { ...(text === undefined ? {} : { reason: text }), by: source.kind };
    this.#killFor(newEvent('harness:abort', data, { id }));
    this.#watch.workers?.abort(text, source.kind);
    await this.#kill;
    return true;
  }

  /** Records an event that the agent did not yield. */
  async #recordOwn(event: NewEvent): Promise<CapturedEvent> {
    try {
      return await this.#log.append(event);
    } catch (error) {
      this.#failForStore(error);
      throw error;
    }
  }

  #killFor(event: NewEvent): void {
    if (!this.#isRunning()) return;
    this.#kill = this.#log.append(event).then(
      () => {},
      (error) => this.#failForStore(error),
    );
    const { reason } = event.data;
    const why = typeof reason === 'string' ? `${event.type}: ${reason}` : event.type;
    this.#stopAgent(`The dispatch was stopped (${why}).`);
    this.#abortWorkers(`the dispatch that started it was stopped (${why})`);
  }

  /** The agent yielded something that is not an event. */
  #crashFor(error: unknown): void {
    this.#crash ??= { error };
    this.#stopAgent('The agent yielded something that is not an event.');
  }

  #failForStore(error: unknown): void {
    this.#storeFailure ??= { error };
    this.#hooksOver.abort(error);
    this.#stopAgent('The store failed.');
    this.#abortWorkers(storeFailedForParent);
  }

  #abortWorkers(reason: string): void {
    this.#watch.workers?.abort(reason, this.#dispatch.dispatchId);
  }

  #stopAgent(reason: string): void {
    if (!this.#isRunning()) return;
    this.#state = 'stopping';
    this.#watch.close();
    this.#tools.end(reason);
    const graceMs = this.#options.graceMs ?? defaultGraceMs;
    this.#releases.push(this.#clock.after(graceMs, () => this.#graceOver.notify()));
    this.#stopSignal.abort(new DOMException(reason, 'AbortError'));
  }

  async #report(event: NewEvent): Promise<boolean> {
    if (this.#state === 'over') return false;
    try {
      await this.#recordOwn(event);
    } catch {
      // The dispatch then ends with the error of that write.
    }
    return true;
  }

  #isRunning(): boolean {
    return this.#state === 'running';
  }

  #finish(): void {
    this.#state = 'over';
    this.#letters.stop();
    this.#watch.close();
    this.#tools.end('The dispatch has ended.');
    this.#watch.stop();
    for (const release of this.#releases.splice(0)) release();
  }
}

/** The request for an agent provider that runs the agent of a dispatch. */
function agentRequest(
  { taskDir, prompt = '', priorOutcomes, outputSchema, limits, resumeSessionId }: RunDispatchOptions,
  { dispatchId, role, model, cwd, fidelity }: DispatchEnvelope,
  messages: AsyncIterable<CapturedEvent>,
  signal: AbortSignal,
  tools: ProjectTools,
): AgentRunRequest {
  return {
    taskDir,
    dispatchId,
    prompt: [priorOutcomes?.text ?? '', prompt].filter((part) => part !== '').join('\n\n'),
    role,
    model,
    cwd,
    fidelity,
    messages,
    signal,
    tools: tools.offered,
    askHooks: async (call) => {
      const { via: _recorded, ...verdict } = await tools.askHooks(call);
      return verdict;
    },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(limits?.turns === undefined ? {} : { maxTurns: limits.turns }),
    ...(limits?.costUsd === undefined ? {} : { maxCostUsd: limits.costUsd }),
    ...(resumeSessionId === undefined ? {} : { resumeSessionId }),
  };
}
