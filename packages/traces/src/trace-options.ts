/** The place of texts, tool input and output: none, log records, or spans (as JSON) and log records. */
const contentModes = ['none', 'events', 'spans'] as const;
export type ContentMode = (typeof contentModes)[number];

export interface TraceOptions {
  /** `none` by default: no text of a prompt, an answer, a tool, a file or an error leaves the log. */
  readonly content?: ContentMode;
  /** Whether content includes the thoughts of models, and data that can have them, such as records of other programs. */
  readonly reasoning?: boolean;
  /** For a type that Hansard does not define: whether its data is content without thoughts. Absent: its data can have thoughts. */
  readonly dataOf?: (type: string) => boolean;
  /**
   * Receives what has no recorded time, which a trace demands. A `dispatch` without a start is left out. An `event` gets the place of the event
   * before it, and its records have the attribute `hansard.time_not_recorded`.
   */
  readonly onUntimed?: (what: 'dispatch' | 'event') => void;
  /**
   * Receives what is left out: of a type of event the data, if content does not include it, and the bytes of data that are above the limit. A `count`
   * is of events or bytes.
   */
  readonly onLeftOut?: (kind: string, count: number) => void;
  /** `service.name` of the resource; `hansard` by default. */
  readonly serviceName?: string;
  /** `service.version` of the resource. */
  readonly serviceVersion?: string;
}
