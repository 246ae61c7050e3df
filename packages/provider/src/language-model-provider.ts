import type { Delta, JsonObject, JsonValue, Usage } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/**
 * Makes one model call. It has no state between calls: the request contains everything that the model receives.
 *
 * The caller is a session of `@hansard/session`. What a provider may assume:
 * - One call at a time for each agent. Calls for different agents run at the same time.
 * - Directly after each assistant message with tool calls, `messages` has one result for each call, in the order of the calls.
 *
 * What it must do:
 * - Answer from the request alone: the same request may be sent again, and a later request may belong to another session.
 * - Leave the request as it is. Each message and tool is deeply frozen; other calls share them.
 * - Return tool calls and never make them.
 * - Settle soon after `signal` aborts, preferably by throwing `signal.reason`. The session does not wait for it and ignores a
 *   late answer.
 *
 * What it may throw: any error. The session records it as `harness:error`, and `response` rejects with SESSION_MODEL_FAILED and
 * the error as `cause`. The same happens with an answer that is not a {@link ModelResponse}. A session repeats a call, perhaps with another model, if its
 * `modelRetries` say so; a provider that makes retries itself hides them from the log. An error may have the fields `usage`, `costUsd` and `model` of an answer:
 * what the failed call cost.
 */
export interface LanguageModelProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Makes one call, and returns the whole answer. */
  generate(request: ModelRequest): Awaitable<ModelResponse>;
  /** Releases what the provider holds. Called by its owner when no call is running; a second call does nothing. */
  close?(): Awaitable<void>;
}

export interface ModelRequest {
  readonly agentId: string;
  readonly agentName: string | null;
  /** The number of answers that the agent gave before this one. */
  readonly turn: number;
  /** The name of the model. Null: the default of the provider. */
  readonly model: string | null;
  /** Oldest first. Each message is deeply frozen; a provider that needs another form must copy it. */
  readonly messages: readonly ModelMessage[];
  /** The tools that the model may call. Empty: none. */
  readonly tools: readonly ToolDefinition[];
  /** Whether the model must call a tool (`required`), this one, or none. Absent: as it wants. A provider that cannot say that to its model ignores it. */
  readonly toolChoice?: ToolChoice;
  /** JSON Schema of the text that the answer should be, as JSON. A provider whose model takes none ignores it: the session checks the answer. */
  readonly outputSchema?: JsonObject;
  /** Aborts when the session is stopped or the time limit of the call has passed. */
  readonly signal: AbortSignal;
  /**
   * Receives pieces of the answer while it is generated. They are shown, never recorded (D8). Joined, the texts of
   * `delta:text` are the `text` of the answer, and those of `delta:thinking` its thinking. No piece may follow after
   * `generate` has settled or `signal` has aborted; the session ignores such a piece. A provider that cannot stream does
   * not call it.
   */
  readonly onDelta?: (delta: Delta) => void;
}

export type ToolChoice = 'required' | 'none' | { readonly tool: string };

export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | {
      readonly role: 'user';
      readonly text: string;
      /** Images, documents and sounds of the message, which `text` names. A model that takes none ignores them. */
      readonly files?: readonly ModelFile[];
    }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      /** The text of its thinking. Only with `replay`, and if there was any. */
      readonly thinking?: string;
      /**
       * {@link ModelResponse.replay} of this answer. Absent: there was none, or the context shows the answer in less detail. The
       * answer may come from another provider or model, so a provider must recognise what it returned itself.
       */
      readonly replay?: JsonValue;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      /** Images, documents and sounds of the result, which `text` names. */
      readonly files?: readonly ModelFile[];
    };

/** A file of a message, with its bytes. */
export interface ModelFile {
  readonly kind: 'image' | 'document' | 'audio';
  /** For example `image/png`. */
  readonly mediaType: string;
  readonly base64: string;
  readonly name?: string;
}

/** A call that a model requests. */
export interface ModelToolCall {
  /** Unique in its answer, and not empty. */
  readonly toolCallId: string;
  readonly tool: string;
  /** The input as the model wrote it; JSON. It may differ from the schema of the tool. */
  readonly input: JsonValue;
}

/** One whole answer. The session copies it, and the provider must not change it afterwards. */
export interface ModelResponse {
  /** Empty if the answer has only tool calls. An answer without tool calls is an utterance, even if its text is empty. */
  readonly text: string;
  readonly thinking?: { readonly text: string; readonly signature?: string };
  /**
   * What the provider must get back with this answer to continue from it, such as signed or encrypted reasoning. JSON. It is recorded
   * with the answer, and later requests of the agent have it unchanged, with the text of the thinking. Absent: nothing.
   */
  readonly replay?: JsonValue;
  /** In the order of the answer. Empty: the model called no tool. */
  readonly toolCalls: readonly ModelToolCall[];
  /** The model that answered. */
  readonly model: string;
  /** The tokens of this call: whole numbers from 0. */
  readonly usage: Usage;
  /** The cost of this call in US dollars, from 0. Absent: not known. */
  readonly costUsd?: number;
  /** As the model reported it, such as `end_turn`. */
  readonly stopReason?: string;
  /** What the provider sent beside the messages. The log keeps it once, with the calls that were given the same. */
  readonly sent?: {
    /** The tools, if they are not those of the request in their order. */
    readonly tools?: readonly ToolDefinition[];
    /**
     * The parameters, in the words of the provider: sampling such as `temperature`, and whatever else changes an answer. Never a key or a
     * header. `{}` if there are none. Absent: the provider does not report them.
     */
    readonly parameters?: JsonObject;
  };
}

/** A tool as a model sees it. */
export interface ToolDefinition {
  /** Unique among the tools of its provider: 1 to 64 characters of `A-Z a-z 0-9 _ -`, which models accept. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** JSON Schema of the input, with `type: 'object'`. Hansard does not check inputs against it. */
  readonly inputSchema: JsonObject;
  /**
   * In a session, a call waits for a person. `approval`: the tool is called when a person has approved it. `answer`: the tool is never called; the result is
   * the person's answer to `question` of the input, with its `choices`. Models do not see this. Absent: a call does not wait.
   */
  readonly waitsFor?: 'approval' | 'answer';
}
