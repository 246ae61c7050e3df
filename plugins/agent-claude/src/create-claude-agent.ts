import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Options, Query, SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { type ClaudeMapping, createClaudeMapping } from '@hansard/claude';
import type { CapturedEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';
import { ActivityQueue } from './activity-queue.ts';
import { cwdMissing, engineFailure, notLoggedIn, sdkMissing, sessionMissing } from './agent-failures.ts';
import type { ClaudeAgentOptions } from './claude-agent-options.ts';
import { engineOptions, projectOptions } from './engine-options.ts';
import { EngineProcess } from './engine-process.ts';
import { TurnWatch } from './turn-watch.ts';

/** How long the engine may take to report a call after it asks for permission. */
const callPatienceMs = 500;

/** How long an interrupted turn may take to end. Shorter than the grace period of a dispatch, so that a kill still fits. */
const interruptPatienceMs = 2_000;

/** How long an idle engine may take to end. */
const endPatienceMs = 2_000;

/** The default of `backgroundMs`. */
const defaultBackgroundMs = 60_000;

/** Node runs a longer timer after one millisecond. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The live agent: each dispatch is a process of the Claude Agent SDK's engine, which has exited when the dispatch ends.
 * The SDK is imported when the first dispatch runs.
 *
 * Running it throws AGENT_SDK_MISSING, AGENT_ENGINE_MISSING, AGENT_CWD_MISSING, AGENT_NOT_LOGGED_IN,
 * AGENT_SESSION_MISSING or AGENT_ENGINE_FAILED. An end by the model, a tool or a limit is not an error: `session:complete` records it.
 *
 * @throws TypeError for an MCP server named `hansard`
 */
export function createClaudeAgent(options: ClaudeAgentOptions = {}): AgentProvider {
  if (options.mcpServers !== undefined && Object.hasOwn(options.mcpServers, 'hansard')) {
    throw new TypeError(
      'The MCP server name `hansard` is that of the tools of the project; give yours another name.',
    );
  }
  return { contract: 1, run: (request) => new ClaudeRun(options, request).activities() };
}

interface ClaudeSdk {
  query(params: { prompt: AsyncIterable<SDKUserMessage>; options: Options }): Query;
}

/** One dispatch of the live agent. */
class ClaudeRun {
  readonly #options: ClaudeAgentOptions;
  readonly #request: AgentRunRequest;
  readonly #mapping: ClaudeMapping;
  readonly #queue = new ActivityQueue();
  readonly #input = new UserInput();
  readonly #turns = new TurnWatch();
  #engine = new EngineProcess();
  #query: Query | null = null;
  #sessionId: string | undefined;
  #spentUsd = 0;
  #commandsOver: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: ClaudeAgentOptions, request: AgentRunRequest) {
    this.#options = options;
    this.#request = request;
    this.#mapping = createClaudeMapping({ fidelity: request.fidelity });
    this.#sessionId = request.resumeSessionId;
  }

  async *activities(): AsyncGenerator<AgentActivity> {
    const { signal, prompt, messages, cwd } = this.#request;
    if (signal.aborted) return;
    if (cwd !== null && !existsSync(cwd)) throw cwdMissing(cwd);
    const sdk = await this.#loadSdk();
    this.#input.addPrompt(prompt);
    const heard = messages[Symbol.asyncIterator]();
    void this.#listen(heard).catch((error) => this.#queue.end({ error }));
    const onAbort = () => void this.#stop();
    signal.addEventListener('abort', onAbort);
    const working = this.#work(sdk);
    try {
      if (signal.aborted) onAbort();
      yield* this.#queue;
    } finally {
      signal.removeEventListener('abort', onAbort);
      void heard.return?.();
      this.#queue.leave();
      await this.#stop();
      await working;
    }
  }

  async #loadSdk(): Promise<ClaudeSdk> {
    const { loadSdk = () => import('@anthropic-ai/claude-agent-sdk') } = this.#options;
    try {
      return (await loadSdk()) as ClaudeSdk;
    } catch (error) {
      throw sdkMissing(error);
    }
  }

  async #listen(messages: AsyncIterator<CapturedEvent>): Promise<void> {
    for (;;) {
      const { done, value } = await messages.next();
      if (done) return;
      if (typeof value.data.text === 'string') this.#input.add(value.data.text);
    }
  }

  /** Runs engines until every message is answered. Never rejects: the queue reports failures. */
  async #work(sdk: ClaudeSdk): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    try {
      // A message that arrives while an engine ends is answered by another engine, which resumes the session.
      do await this.#converse(sdk);
      while (this.#input.hasUnsent && !this.#isStopping && this.#sessionId !== undefined);
    } catch (error) {
      failure = { error };
    }
    this.#queue.add(this.#mapping.finish());
    this.#queue.end(failure);
  }

  async #converse(sdk: ClaudeSdk): Promise<void> {
    const engine = new EngineProcess();
    this.#engine = engine;
    this.#turns.begin();
    const options = await this.#engineOptions(engine);
    if (this.#isStopping) return;
    try {
      this.#query = sdk.query({ prompt: this.#input.open(), options });
      for await (const message of this.#query) this.#take(message);
      if (!this.#turns.hasResult || this.#turns.isRunning) throw new Error('its messages ended');
    } catch (error) {
      // At its end the SDK also throws the failure of a result, and our own stop.
      if (!this.#isStopping && !this.#turns.isOver && !this.#turns.isLockedOut) {
        throw engineFailure(engine, error, this.#options.executable);
      }
    } finally {
      this.#query = null;
      this.#limitCommands(false);
      await engine.stop();
    }
    if (this.#isStopping) return;
    const { refusal, missingSession } = this.#turns;
    if (refusal !== null) throw notLoggedIn(refusal);
    if (missingSession !== null) throw sessionMissing(missingSession, this.#request.resumeSessionId);
  }

  async #engineOptions(engine: EngineProcess): Promise<Options> {
    const options = engineOptions(this.#options, this.#request, this.#sessionId, this.#spentUsd);
    const { hooks, mcpServers } = await projectOptions({
      request: this.#request,
      mapping: this.#mapping,
      whenRecorded: (toolCallId) => this.#queue.whenRecorded(toolCallId, callPatienceMs),
    });
    return {
      ...options,
      hooks,
      mcpServers: { ...options.mcpServers, ...mcpServers },
      spawnClaudeCodeProcess: engine.spawn,
    };
  }

  #take(message: SDKMessage): void {
    this.#sessionId = message.session_id ?? this.#sessionId;
    for (const uuid of this.#turns.observe(message)) this.#input.answered(uuid);
    const activities = this.#mapping.map(message);
    this.#queue.add(isHeartbeat(message) ? activities.map(asHeartbeat) : activities);
    this.#spentUsd = activities.map(costIn).findLast((cost) => cost !== undefined) ?? this.#spentUsd;
    const { hasResult, isRunning, isIdle, isLockedOut, commands } = this.#turns;
    const isOver = this.#isStopping ? hasResult && !isRunning : isIdle && commands.length === 0;
    if (isOver) void this.#endEngine();
    else if (isLockedOut && isRetry(message)) void this.#giveUp();
    this.#limitCommands(isIdle && !isOver);
  }

  /** Waits for commands in the background while nothing else is running. */
  #limitCommands(areAll: boolean): void {
    if (areAll) {
      const { backgroundMs = defaultBackgroundMs } = this.#options;
      const ms = Math.min(backgroundMs, longestTimerMs);
      this.#commandsOver ??= setTimeout(() => void this.#stopCommands(), ms);
    } else {
      clearTimeout(this.#commandsOver);
      this.#commandsOver = undefined;
    }
  }

  /** The engine reports each stopped command, and then that it is idle. */
  async #stopCommands(): Promise<void> {
    const engine = this.#engine;
    this.#requestStopOfCommands();
    if (!(await engine.whenGone(endPatienceMs)) && this.#turns.isIdle) await this.#endEngine();
  }

  #requestStopOfCommands(): void {
    for (const id of this.#turns.commands) void this.#query?.stopTask(id).catch(() => {});
  }

  /** Lets the engine end. */
  async #endEngine(): Promise<void> {
    const engine = this.#engine;
    const isGoneOrBusy = async () => (await engine.whenGone(endPatienceMs)) || !this.#turns.isIdle;
    // It can be idle because it has not yet read the last message.
    if (!this.#isStopping && this.#input.isPending && (await isGoneOrBusy())) return;
    this.#input.close();
    if (await isGoneOrBusy()) return;
    await engine.stop();
  }

  /** Interrupts the running turn, so that the engine ends its tools and reports the usage; then ends the engine. */
  async #stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      const { isRunning, isIdle, commands } = this.#turns;
      if (isRunning) void this.#query?.interrupt().catch(() => {});
      // A stopped engine can leave commands running. It reports when there are none.
      else if (isIdle && commands.length > 0) this.#requestStopOfCommands();
      else this.#input.close();
    }
    // An engine without a turn has nothing to report. Without a stop it would begin one.
    const { isRunning, hasResult } = this.#turns;
    if (isRunning || hasResult) await this.#engine.whenGone(interruptPatienceMs);
    await this.#engine.stop();
  }

  /** The same for an engine whose API refuses it; the dispatch reports that. */
  async #giveUp(): Promise<void> {
    const engine = this.#engine;
    void this.#query?.interrupt().catch(() => {});
    await engine.whenGone(interruptPatienceMs);
    await engine.stop();
  }
}

/** The message of a timer of the engine, every 30 seconds, while a tool or a hook has not answered. */
function isHeartbeat(message: SDKMessage): boolean {
  return message.type === 'tool_progress' && message.heartbeat === true;
}

function costIn(activity: AgentActivity): number | undefined {
  const isEnd = activity.kind === 'event' && activity.event.type === 'session:complete';
  return isEnd && typeof activity.event.data.costUsd === 'number' ? activity.event.data.costUsd : undefined;
}

function isRetry(message: SDKMessage): boolean {
  return message.type === 'system' && message.subtype === 'api_retry';
}

function asHeartbeat(activity: AgentActivity): AgentActivity {
  return activity.kind === 'event' ? { ...activity, isHeartbeat: true } : activity;
}

/** The messages to the agent: those that the engine has not received, and those that it has not answered yet. */
class UserInput {
  readonly #unsent: SDKUserMessage[] = [];
  readonly #unanswered = new Set<string>();
  #isOpen = false;
  #wake = () => {};

  /** The first message. A result always answers it. */
  addPrompt(text: string): void {
    this.#unsent.push(userMessage(text));
    this.#wake();
  }

  add(text: string): void {
    this.#unsent.push({ ...userMessage(text), uuid: randomUUID() });
    this.#wake();
  }

  /** Marks a message as answered. */
  answered(uuid: string): void {
    this.#unanswered.delete(uuid);
  }

  get hasUnsent(): boolean {
    return this.#unsent.length > 0;
  }

  /** Whether a message is unanswered. */
  get isPending(): boolean {
    return this.hasUnsent || this.#unanswered.size > 0;
  }

  /** The input of one engine, until `close`. Later messages are for the next engine. */
  async *open(): AsyncGenerator<SDKUserMessage> {
    this.#isOpen = true;
    this.#unanswered.clear();
    while (this.#isOpen) {
      const message = this.#unsent.shift();
      if (message === undefined) {
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      } else {
        if (message.uuid !== undefined) this.#unanswered.add(message.uuid);
        yield message;
      }
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#wake();
  }
}

function userMessage(content: string): SDKUserMessage {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
}
