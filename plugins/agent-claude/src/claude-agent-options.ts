export interface ClaudeAgentOptions {
  /** The model if the dispatch names none. Absent: the engine's choice. */
  readonly model?: string;
  /** The Claude Code executable, in the version of the SDK. Absent: the one that is installed with the SDK. */
  readonly executable?: string;
  /** The whole environment of the engine. Absent: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The rule for calls that no other rule allows. A call that would need the answer of a person is denied. Default `default`. */
  readonly permissionMode?: ClaudePermissionMode;
  /** Tools that need no permission, such as `Bash(git status)`. Tools of the project never need one. */
  readonly allowedTools?: readonly string[];
  /** Tools that the agent does not have. */
  readonly disallowedTools?: readonly string[];
  /** The settings files, CLAUDE.md and hooks of the machine that apply. Default: none. */
  readonly settingSources?: readonly ('user' | 'project' | 'local')[];
  /** The whole system prompt. Absent: Claude Code's own. */
  readonly systemPrompt?: string;
  /** The limit of turns for a dispatch without its own limit. */
  readonly maxTurns?: number;
  /**
   * How long the dispatch waits after a result for commands that the agent left in the background, in milliseconds. When
   * a command ends, the agent receives its outcome in another turn; commands that are still running are stopped. Default
   * 60,000.
   */
  readonly backgroundMs?: number;
  /** MCP servers by name, in the form of the SDK. The name `hansard` is reserved. */
  readonly mcpServers?: Readonly<Record<string, object>>;
  /**
   * Receives each entry of a session in addition to the engine's own files: a store of
   * `@hansard/agent-claude/session-store`, or any `SessionStore` of the SDK. A resumed session is loaded from it. A `system:mirror_error` reports entries that it can't store.
   */
  readonly sessionStore?: {
    append(key: never, entries: never): Promise<void>;
    load(key: never): Promise<object[] | null>;
  };
  /** Imports the SDK. */
  readonly loadSdk?: () => Promise<unknown>;
}

type ClaudePermissionMode = 'default' | 'acceptEdits' | 'bypassPermissions' | 'plan' | 'dontAsk' | 'auto';
