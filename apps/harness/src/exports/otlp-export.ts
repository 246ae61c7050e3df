import { definedOnly } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { TraceOptions } from '@hansard/traces';
import { Option } from 'commander';
import type { TaskExport } from './task-export.ts';

/** Dispatches as OpenTelemetry traces: a file of OTLP/JSON, or sent to a receiver. */
export const otlpExport: TaskExport = {
  id: 'otlp',
  description: 'OpenTelemetry traces as OTLP/JSON lines, or sent to --endpoint',
  scope: 'task',
  target: 'text',
  isJson: true,
  options: [
    new Option('--endpoint <url>', 'send to this OTLP receiver, such as http://localhost:4318'),
    new Option(
      '--content <where>',
      'put texts, tool input and tool output nowhere, on log records or on spans',
    )
      .choices(['none', 'events', 'spans'])
      .default('none'),
    new Option(
      '--data-of <types>',
      "include the data of these types of your own, such as 'game:*' (with --content)",
    ),
    new Option('--reasoning', 'include the reasoning of models, and data that can have it (with --content)'),
  ],
  async write(source, target, options) {
    // Only this export needs the OpenTelemetry libraries.
    const { otlpLines, sendOtlp, shownEndpoint, traceDispatches } = await import('@hansard/traces');
    const { endpoint, out, content, reasoning, dataOf } = options as OtlpOptions;
    const patterns = dataOf?.split(',').map((pattern) => pattern.trim()) ?? [];
    const records = () =>
      traceDispatches(source, {
        ...definedOnly({ content }),
        reasoning: reasoning === true,
        dataOf: (type) => patterns.some((pattern) => matchesEventType(pattern, type)),
      });
    const written = { spans: 0, logs: 0 };
    if (endpoint === undefined || out !== undefined) {
      for await (const { text, spans, logs } of otlpLines(records())) {
        await target.text.write(text);
        written.spans += spans;
        written.logs += logs;
      }
    }
    if (endpoint === undefined) return { summary: { ...written }, notes: [] };
    const { refused, ...sent } = await sendOtlp(records(), endpoint);
    const shown = shownEndpoint(endpoint);
    return {
      summary: { ...sent, endpoint: shown },
      notes: [
        `${sent.spans} spans and ${sent.logs} log records sent to ${shown}.`,
        ...refused.map(
          ({ kind, name, traceId, spanId }) =>
            `Not sent, too large for the receiver: the ${kind} ${name} (span ${spanId ?? 'none'} of trace ${traceId ?? 'none'}).`,
        ),
      ],
    };
  },
};

interface OtlpOptions {
  readonly endpoint?: string;
  readonly out?: string;
  readonly content?: NonNullable<TraceOptions['content']>;
  readonly reasoning?: boolean;
  readonly dataOf?: string;
}
