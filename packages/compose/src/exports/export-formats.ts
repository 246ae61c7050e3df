import type { ReasoningMode, TrainingFormatId } from '@hansard/datasets';
import type { SessionFormatId } from '@hansard/formats';
import type { ContentMode } from '@hansard/traces';

/** What only some formats take: `exportFormats` says which. Paths are relative to the folder of the harness. */
export interface FormatOptions {
  /** `pages` of all tasks: only tasks whose project contains this text, ignoring case. */
  readonly project?: string;
  /** `otlp`: sends the traces to this receiver, such as `http://localhost:4318`. */
  readonly endpoint?: string;
  /** `otlp`: where texts, tool input and tool output go. Absent: nowhere. */
  readonly content?: ContentMode;
  /** `otlp` with `content`: types of your own whose data is included, such as `game:*`. */
  readonly dataOf?: readonly string[];
  /** `otlp` with `content`: whether the reasoning of models is included. */
  readonly reasoning?: boolean;
  /**
   * A YAML or JSON file that maps the events and tools of a game. `streams` needs it, except of an imported game log; training data can
   * use it.
   */
  readonly mapping?: string;
  /**
   * Whether lines have keys besides those of the specification. `streams`: `run_id` and `event_id`, and a file of whispers. Session logs:
   * causes of entries in v2, and `cause_tool_call_id`.
   */
  readonly extended?: boolean;
  /**
   * `streams` or a session log of one session: writes until the session ends or the signal aborts. The folder or file may exist: what an
   * earlier export that followed has written is continued.
   */
  readonly follow?: boolean;
  /** Training data of these agents only, by id or name. */
  readonly agents?: readonly string[];
  /** Training data: how thoughts are written. Absent: not at all. */
  readonly thoughts?: ReasoningMode;
  /** Training data: a JSON file with an array of tool definitions for each row. */
  readonly tools?: string;
  /** Training data: the largest estimate that is written, in bytes. Absent: 1 GB. */
  readonly maxBytes?: number;
}

export interface ExportFormat {
  /** What one export is written of: one session, the sessions of a task, or all tasks. */
  readonly scope: 'session' | 'task' | 'store';
  /** One text, or several files in a folder. */
  readonly target: 'text' | 'folder';
  /** Whether the text is JSON lines. */
  readonly isJson?: true;
  /** The options that it takes. */
  readonly options: readonly (keyof FormatOptions)[];
}

export type ExportFormatId =
  | SessionFormatId
  | 'otlp'
  | 'markdown'
  | 'pull-request'
  | 'html'
  | 'pages'
  | 'streams'
  | 'agent-trace'
  | 'atif'
  | TrainingFormatId;

const sessionLog = {
  scope: 'session',
  target: 'text',
  isJson: true,
  options: ['extended', 'follow'],
} as const;
const report = { scope: 'task', target: 'text', options: [] } as const;
const training = {
  scope: 'task',
  target: 'folder',
  options: ['agents', 'thoughts', 'tools', 'maxBytes', 'mapping'],
} as const;

/** Every format of an export. */
export const exportFormats: Readonly<Record<ExportFormatId, ExportFormat>> = {
  'session-v1': sessionLog,
  'session-v2': sessionLog,
  smallchat: sessionLog,
  otlp: {
    scope: 'task',
    target: 'text',
    isJson: true,
    options: ['endpoint', 'content', 'dataOf', 'reasoning'],
  },
  markdown: report,
  'pull-request': report,
  html: report,
  pages: { scope: 'store', target: 'folder', options: ['project'] },
  streams: { scope: 'task', target: 'folder', options: ['mapping', 'extended', 'follow'] },
  'agent-trace': { scope: 'task', target: 'text', isJson: true, options: [] },
  atif: { scope: 'session', target: 'folder', options: [] },
  sft: training,
  trl: training,
  'trl-chat': training,
  openai: training,
};
