export interface ClaudeAgentOptions {
  /** The model, where the dispatch names none. Absent: the engine's own choice. */
  readonly model?: string;
  /** The Claude Code executable, of the version that belongs to the SDK. Absent: the one that came with the SDK. */
  readonly executable?: string;
  /** The whole environment of the engine. Absent: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What happens with calls that no rule allows. Nobody can be asked: what would need an answer is denied. Default `default`. */
  readonly permissionMode?: ClaudePermissionMode;
  /** Tools that need no permission, such as `Bash(git status)`. Those of the project never do. */
  readonly allowedTools?: readonly string[];
  /** Tools that the agent does not have. */
  readonly disallowedTools?: readonly string[];
  /** Which settings files, CLAUDE.md and hooks of the machine count. Default: none, so that nothing unsaid does. */
  readonly settingSources?: readonly ('user' | 'project' | 'local')[];
  /** The whole system prompt. Absent: Claude Code's own. */
  readonly systemPrompt?: string;
  /** The most turns of a dispatch that sets no limit of its own. */
  readonly maxTurns?: number;
  /**
   * How long the dispatch waits after a result for commands that the agent left in the background, in milliseconds. When
   * a command ends, the agent receives its outcome in another turn; commands that are still running are stopped. Default
   * 60,000.
   */
  readonly backgroundMs?: number;
  /** MCP servers by name, as the SDK takes them; `hansard` is taken. */
  readonly mcpServers?: Readonly<Record<string, object>>;
  /**
   * Where sessions are kept beside the engine's own files, as each entry is written: the one that
   * `@hansard/agent-claude/session-store` makes, or any `SessionStore` of the SDK. A session that is resumed is taken
   * from it. A `system:mirror_error` reports entries that it can't store.
   */
  readonly sessionStore?: ClaudeSessionStore;
  /** Imports the SDK. */
  readonly loadSdk?: () => Promise<unknown>;
}

/** What every `SessionStore` of the SDK has. Not imported by name: the types of a replay need no SDK. */
export interface ClaudeSessionStore {
  append(key: never, entries: never): Promise<void>;
  load(key: never): Promise<object[] | null>;
}

export type ClaudePermissionMode =
  | 'default'
  | 'acceptEdits'
  | 'bypassPermissions'
  | 'plan'
  | 'dontAsk'
  | 'auto';
