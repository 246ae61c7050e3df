/** Where texts, tool input and output go: nowhere, onto log records, or onto spans (as JSON) and log records. */
export const contentModes = ['none', 'events', 'spans'] as const;
export type ContentMode = (typeof contentModes)[number];

export interface TraceOptions {
  /** `none` by default: no text of a prompt, an answer, a tool, a file or an error leaves the log. */
  readonly content?: ContentMode;
  /** Whether content has what models thought, too. Without it their thoughts stay in the log. */
  readonly reasoning?: boolean;
  /** `service.name` of the resource; `hansard` by default. */
  readonly serviceName?: string;
  /** `service.version` of the resource. */
  readonly serviceVersion?: string;
}
