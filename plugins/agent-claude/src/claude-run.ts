import { existsSync } from 'node:fs';
import type { Options, Query, SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { CapturedEvent } from '@hansard/events';
import { type ClaudeMapping, createClaudeMapping } from '@hansard/formats/claude';
import type { AgentActivity, AgentRunRequest } from '@hansard/provider';
import { ActivityQueue } from './activity-queue.ts';
import { cwdMissing, engineFailure, notLoggedIn, sdkMissing, sessionMissing } from './agent-failures.ts';
import type { ClaudeAgentOptions } from './create-claude-agent.ts';
import { engineOptions } from './engine-options.ts';
import { EngineProcess } from './engine-process.ts';
import { createProjectToolsServer, projectServerName } from './project-tools-server.ts';
import { createToolPermission } from './tool-permission.ts';
import { TurnWatch } from './turn-watch.ts';
import { UserInput } from './user-input.ts';

/** How long the engine may take to tell of a call that it asks about. */
const callPatienceMs = 500;
/** How long it may take to end the turn that it was told to end. Below the grace of a dispatch, with room for the kill. */
const interruptPatienceMs = 2_000;
/** How long it may take to end when it has nothing left to do. */
const endPatienceMs = 2_000;
/** A hook of the project may ask a person. */
const hookTimeoutSeconds = 24 * 60 * 60;

interface ClaudeSdk {
  query(params: { prompt: AsyncIterable<SDKUserMessage>; options: Options }): Query;
}

/** One dispatch of the live agent. */
export class ClaudeRun {
  readonly #options: ClaudeAgentOptions;
  readonly #request: AgentRunRequest;
  readonly #mapping: ClaudeMapping;
  readonly #queue = new ActivityQueue();
  readonly #input = new UserInput();
  readonly #turns = new TurnWatch();
  /** Who calls a tool of the project, by call. */
  readonly #callers = new Map<string, string>();
  #engine = new EngineProcess();
  #query: Query | null = null;
  #sessionId: string | undefined;
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

  /** Runs engines until nothing is left to say. Never rejects: the queue tells of what went wrong. */
  async #work(sdk: ClaudeSdk): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    try {
      // A message that came while an engine was ending is answered by another one, which goes on with the session.
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
      // At its end the SDK throws also what a result has said, and that it was ended by us.
      if (!this.#isStopping && !this.#turns.isOver) {
        throw engineFailure(engine, error, this.#options.executable);
      }
    } finally {
      this.#query = null;
      await engine.stop();
    }
    if (this.#isStopping) return;
    const { refusal, missingSession } = this.#turns;
    if (refusal !== null) throw notLoggedIn(refusal);
    if (missingSession !== null) throw sessionMissing(missingSession, this.#request.resumeSessionId);
  }

  async #engineOptions(engine: EngineProcess): Promise<Options> {
    const { tools, askHooks } = this.#request;
    const options = engineOptions(this.#options, this.#request, this.#sessionId);
    const whenRecorded = (toolCallId: string) => this.#queue.whenRecorded(toolCallId, callPatienceMs);
    const permission = createToolPermission({
      askHooks: (call) => askHooks.call(this.#request, call),
      whenRecorded,
      onDenied: (toolCallId) => this.#mapping.noteDenied(toolCallId),
      onProjectCall: (toolCallId, agentId) => {
        if (agentId !== undefined) this.#callers.set(toolCallId, agentId);
      },
    });
    const server =
      tools.length === 0
        ? {}
        : {
            [projectServerName]: await createProjectToolsServer({
              tools,
              whenRecorded,
              agentIdOf: (toolCallId) => this.#callers.get(toolCallId),
              onOutcome: (toolCallId, outcome) => {
                this.#callers.delete(toolCallId);
                this.#mapping.noteOutcome(toolCallId, outcome);
              },
            }),
          };
    return {
      ...options,
      mcpServers: { ...options.mcpServers, ...server },
      hooks: { PreToolUse: [{ hooks: [permission], timeout: hookTimeoutSeconds, onFailure: 'block' }] },
      spawnClaudeCodeProcess: engine.spawn,
    };
  }

  #take(message: SDKMessage): void {
    this.#sessionId = message.session_id ?? this.#sessionId;
    for (const uuid of this.#turns.observe(message)) this.#input.answered(uuid);
    this.#queue.add(this.#mapping.map(message));
    const { hasResult, isRunning, isIdle } = this.#turns;
    const isOver = this.#isStopping ? hasResult && !isRunning : isIdle;
    if (isOver) void this.#endEngine();
  }

  /** Lets the engine end. It would wait for commands that the agent left in the background, which may never end. */
  async #endEngine(): Promise<void> {
    const engine = this.#engine;
    const isGoneOrBusy = async () => (await engine.whenGone(endPatienceMs)) || !this.#turns.isIdle;
    // It may be idle because it has not read yet what it was told last.
    if (!this.#isStopping && this.#input.isPending && (await isGoneOrBusy())) return;
    this.#input.close();
    if (await isGoneOrBusy()) return;
    await engine.stop();
  }

  /** Ends the turn under way, so that the engine ends its tools and tells what was used; then the engine itself. */
  async #stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      if (this.#turns.isRunning) void this.#query?.interrupt().catch(() => {});
      else this.#input.close();
    }
    // One that has begun no turn has nothing to tell; left alone, it would begin one.
    const { isRunning, hasResult } = this.#turns;
    if (isRunning || hasResult) await this.#engine.whenGone(interruptPatienceMs);
    await this.#engine.stop();
  }
}
