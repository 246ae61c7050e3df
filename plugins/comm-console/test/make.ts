import {
  type CapturedEvent,
  type DispatchEnvelope,
  envelopeSchemaVersion,
  type JsonObject,
} from '@hansard/events';
import type { EventNotice } from '@hansard/provider';
import type { ConsoleOutput } from '../src/screen.ts';

export const taskDir = 'research-lab/tasks/route-models';

/** An output that keeps what it is given. */
export class FakeOutput implements ConsoleOutput {
  text = '';
  readonly isTTY: boolean;
  columns: number | undefined;

  constructor(columns?: number) {
    this.isTTY = columns !== undefined;
    this.columns = columns;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }

  /** The lines of a terminal as one sees them: without colours, each as it was last drawn. */
  get shown(): string[] {
    return this.text.split('\n').map((line) => withoutColours(line).split(`\r\x1b[K`).at(-1) ?? '');
  }
}

export function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return text.replaceAll(/\x1b\[\d*m/g, '');
}

export function envelope(changes: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId: '01JM0000000000000000000001',
    taskSlug: 'route-models',
    role: 'product-analyst',
    title: null,
    model: 'claude-sonnet-4-5',
    cwd: null,
    startedAt: '2026-03-01T09:30:00.000Z',
    completedAt: null,
    status: 'running',
    ended: null,
    cost: null,
    usage: null,
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    source: null,
    structuredResult: null,
    parentDispatchId: null,
    botId: null,
    fidelity: 'narrative',
    schemaVersion: envelopeSchemaVersion,
    ...changes,
  };
}

let made = 0;

export function notice(
  type: CapturedEvent['type'],
  data: JsonObject,
  { agentId, from = envelope() }: { readonly agentId?: string; readonly from?: DispatchEnvelope } = {},
): EventNotice {
  made += 1;
  const event = { id: `event-${made}`, type, timestamp: '2026-03-01T09:30:01.000Z', data };
  const recorded = agentId === undefined ? event : { ...event, agentId };
  return { taskDir, envelope: from, event: recorded, position: made - 1 };
}
