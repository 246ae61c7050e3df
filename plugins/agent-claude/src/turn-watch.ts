import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { isPlainObject } from '@hansard/events';

/** How many refusals in a row are final. The engine renews a login up to twice. */
const mostRefusals = 3;

/** The state of an engine's turns, derived from its messages. */
export class TurnWatch {
  #result: 'none' | 'good' | 'failed' = 'none';
  #isIdle = false;
  #isRunning = false;
  #refusal: string | null = null;
  #refusals = 0;
  #isLockedOut = false;
  #commands: readonly string[] = [];
  #missingSession: string | null = null;

  /** Another engine begins. */
  begin(): void {
    this.#result = 'none';
    this.#isIdle = false;
    this.#isRunning = false;
    this.#refusal = null;
    this.#refusals = 0;
    this.#isLockedOut = false;
    this.#commands = [];
    this.#missingSession = null;
  }

  /** Observes a message; returns the ids of the user's messages that it reports as answered. */
  observe(message: SDKMessage): readonly string[] {
    const { type, subtype, ...fields } = message as SDKMessage &
      MessageFields & { readonly subtype?: string };
    this.#countRefusals(type, subtype, fields);
    if (type === 'result') {
      this.#result = fields.is_error === true ? 'failed' : 'good';
      this.#isRunning = false;
      if (this.#result === 'good') this.#refusal = null;
      else this.#missingSession = missingSessionIn(fields.errors);
      return [fields.user_message_uuid, fields.user_message_uuids]
        .flat()
        .filter((uuid) => typeof uuid === 'string');
    }
    if (subtype === 'background_tasks_changed') this.#commands = idsOf(fields.tasks);
    if (type === 'system' && subtype === 'session_state_changed') {
      this.#isRunning = fields.state === 'running';
      this.#isIdle = fields.state === 'idle' && this.hasResult;
    }
    // The turn in which the agent receives the result of a sub-agent begins without a message about the engine's state.
    if (isOfTurn(type, subtype, fields)) this.#isRunning = true;
    if (type === 'assistant' && fields.parent_tool_use_id === null) {
      this.#refusal = fields.error === 'authentication_failed' ? textOf(fields.message) : null;
    }
    const { command_uuid: uuid, state } = fields;
    const isDone = (type as string) === 'command_lifecycle' && state !== 'queued' && state !== 'started';
    return isDone && typeof uuid === 'string' ? [uuid] : [];
  }

  /** Whether it has reported the end of a turn. */
  get hasResult(): boolean {
    return this.#result !== 'none';
  }

  /** Whether an engine that ends now has reported the outcome of all its work. */
  get isOver(): boolean {
    return !this.#isRunning && (this.#isIdle || this.#result === 'failed');
  }

  /** Whether only commands are running: no turn, and no sub-agent in the background. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The ids of commands that the agent left running in the background. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** Whether it repeats requests to an API that refuses its key. */
  get isLockedOut(): boolean {
    return this.#isLockedOut;
  }

  /** The error of the last turn if the API refused the agent's login. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** The engine's message about a session to resume that it does not have. */
  get missingSession(): string | null {
    return this.#missingSession;
  }

  #countRefusals(type: string, subtype: string | undefined, fields: MessageFields): void {
    if (this.#isLockedOut) return;
    if (subtype !== 'api_retry') {
      // An answer of the model shows that the API accepted the request.
      if (type === 'stream_event' || type === 'assistant') this.#refusals = 0;
      return;
    }
    const { error, error_status, attempt } = fields;
    this.#refusals = error === 'authentication_failed' ? this.#refusals + 1 : 0;
    // Parallel agents can each be refused before the login is renewed.
    this.#isLockedOut = Math.min(this.#refusals, Number(attempt)) >= mostRefusals;
    if (this.#isLockedOut) this.#refusal = `API error ${error_status}: ${error}`;
  }
}

interface MessageFields {
  readonly [field: string]: unknown;
}

function isOfTurn(type: string, subtype: string | undefined, fields: MessageFields) {
  if (type === 'system') return subtype === 'status' && fields.status === 'requesting';
  return (type === 'assistant' || type === 'stream_event') && fields.parent_tool_use_id === null;
}

function missingSessionIn(errors: unknown): string | null {
  const said = [errors].flat().find((error) => String(error).startsWith('No conversation found'));
  return said === undefined ? null : String(said);
}

function idsOf(tasks: unknown): string[] {
  return [tasks].flat().flatMap((task) => (isPlainObject(task) ? String(task.task_id) : []));
}

function textOf(message: unknown): string {
  const { content } = message as { readonly content: readonly { readonly text?: string }[] };
  return content.map(({ text }) => text ?? '').join('');
}
