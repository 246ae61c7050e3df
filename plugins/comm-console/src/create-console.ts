import type { Readable } from 'node:stream';
import type { Delta, DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { dispatchDuration, formatCost, formatDuration, formatUsage } from '@hansard/facts';
import type {
  CommunicationHost,
  CommunicationProvider,
  DeltaNotice,
  DispatchNotice,
  DispatchStartNotice,
  EventNotice,
} from '@hansard/provider';
import {
  AgentNames,
  columnsOf,
  eventWords,
  fitColumns,
  type LineSegment,
  lineSegments,
  type RenderLineOptions,
  type Tone,
  type Words,
} from '@hansard/views';
import picocolors from 'picocolors';
import { type ConsoleOutput, Screen } from './screen.ts';
import { RunningDispatches, readTypedLines } from './typed-lines.ts';

const noTime = ' '.repeat('HH:MM:SS'.length);

/** The width of a column for kinds, as in the lines of events. */
const kindColumns = 8;

/** More than any terminal shows of a growing line. */
const longestKept = 2_000;

export interface ConsoleOptions {
  readonly output: ConsoleOutput;
  /** The input of the user; read only if it is a terminal. Absent: no input. */
  readonly input?: (Readable & { readonly isTTY?: boolean | undefined }) | undefined;
  /** Reads the input even if it is not a terminal. */
  readonly readAnyInput?: boolean | undefined;
  /** Absent: colours on a terminal, unless the environment has `NO_COLOR`. */
  readonly color?: boolean | undefined;
  /** Whether a terminal shows text while the model writes it. Absent: yes. */
  readonly deltas?: boolean | undefined;
}

export interface ConsoleProvider extends CommunicationProvider, AsyncDisposable {
  close(): Promise<void>;
}

/**
 * Shows each event as one line, and delivers each line that the user types: to the dispatch that it names (`@NAME text`), or to
 * the one that started last. A terminal gets lines that fit its width, other outputs get whole lines. After the reader of the output has gone, nothing is written.
 */
export function createConsole(options: ConsoleOptions): ConsoleProvider {
  const { output, input, readAnyInput = false, deltas = true } = options;
  const screen = new Screen(output);
  const painter = createPainter(options.color ?? (output.isTTY === true && !process.env.NO_COLOR));
  const running = new RunningDispatches();
  const names = new DispatchNames();
  const live = new LiveText();
  let stopReading = () => {};

  const liveLine = () => {
    const text = screen.columns === undefined ? '' : live.render(screen.columns - 1);
    return text === '' ? '' : painter.dim(text);
  };
  const say = (text: string) => screen.print(painter.notice(neutraliseControlsInLine(text)), liveLine());
  const show = (words: Words, role?: string) => {
    screen.print(painter.line(words, { width: screen.columns, role }), liveLine());
    screen.throwFailure();
  };

  async function close(): Promise<void> {
    stopReading();
    await screen.close();
    screen.throwFailure();
  }

  return {
    contract: 1,

    start(host: CommunicationHost) {
      if (input !== undefined && (input.isTTY === true || readAnyInput)) {
        stopReading = readTypedLines(input, { host, running, say });
      }
    },

    dispatchStarted(notice: DispatchStartNotice) {
      const { envelope, agents = [] } = notice;
      running.add(notice);
      for (const { agentId, name } of agents)
        if (name !== null) names.of(envelope.dispatchId).add(agentId, name);
      show(dispatchStartWords(notice));
    },

    eventRecorded({ envelope, event }: EventNotice) {
      if (event.type.startsWith('agent:')) live.finish(envelope.dispatchId, event.agentId);
      show(eventWords(event, names.of(envelope.dispatchId)), running.labelOf(envelope));
    },

    deltaReceived({ envelope, delta }: DeltaNotice) {
      if (!deltas || screen.columns === undefined || delta.type === 'delta:tool_input') return;
      const agent = names.of(envelope.dispatchId).of(delta.agentId);
      live.add(envelope.dispatchId, delta, { role: running.labelOf(envelope), agent });
      screen.draw(liveLine());
      screen.throwFailure();
    },

    dispatchEnded({ envelope }: DispatchNotice) {
      running.remove(envelope.dispatchId);
      names.forget(envelope.dispatchId);
      live.forget(envelope.dispatchId);
      show(dispatchEndWords(envelope));
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The names of the agents of running dispatches. */
class DispatchNames {
  readonly #byDispatch = new Map<string, AgentNames>();

  of(dispatchId: string): AgentNames {
    const names = this.#byDispatch.get(dispatchId) ?? new AgentNames();
    this.#byDispatch.set(dispatchId, names);
    return names;
  }

  forget(dispatchId: string): void {
    this.#byDispatch.delete(dispatchId);
  }
}

/** The words of a dispatch that starts. */
function dispatchStartWords({ taskDir, envelope }: DispatchStartNotice): Words {
  const { role, model, startedAt } = envelope;
  const text = [model, taskDir, envelope.dispatchId].filter(Boolean).join(', ');
  return {
    timestamp: startedAt,
    tone: 'notice',
    isFailed: false,
    spans: [
      { label: 'word', text: 'start' },
      { label: 'head', text: role },
    ],
    blocks: [{ kind: 'text', source: 'content', text, isProse: false }],
  };
}

/** The words of a dispatch that has ended, with its cost and usage. */
function dispatchEndWords(envelope: DispatchEnvelope): Words {
  const { role, status, cost, usage, startedAt, completedAt } = envelope;
  const figures = [cost === null ? '' : formatCost(cost), usage === null ? '' : formatUsage(usage)];
  const durationMs = dispatchDuration(envelope);
  return {
    timestamp: completedAt ?? startedAt,
    tone: status === 'completed' ? 'good' : 'bad',
    isFailed: status !== 'completed',
    spans: [
      { label: 'word', text: 'end' },
      { label: 'head', text: role },
      { label: 'status', text: status },
      { label: 'duration', text: durationMs === null ? '' : formatDuration(durationMs) },
    ],
    blocks: [{ kind: 'text', source: 'content', text: figures.filter(Boolean).join(', '), isProse: false }],
  };
}

type Paint = (text: string) => string;

interface Painter {
  line(words: Words, options: RenderLineOptions): string;
  readonly dim: Paint;
  readonly notice: Paint;
}

/** Colours each part of a line, or returns it unchanged. */
function createPainter(enabled: boolean): Painter {
  const colors = picocolors.createColors(enabled);
  const plain: Paint = (text) => text;
  const tones: Readonly<Record<Tone, Paint>> = {
    plain,
    dim: colors.dim,
    good: colors.green,
    bad: colors.red,
    notice: colors.yellow,
  };
  const quietTones: Readonly<Record<Tone, Paint>> = { ...tones, good: plain, notice: plain };
  const parts: Readonly<Record<LineSegment['part'], (tone: Tone) => Paint>> = {
    time: () => colors.dim,
    role: () => colors.cyan,
    agent: () => colors.magenta,
    word: (tone) => tones[tone],
    head: (tone) => (tone === 'dim' ? colors.dim : colors.bold),
    status: (tone) => tones[tone],
    text: (tone) => quietTones[tone],
  };
  return {
    line: (words, options) =>
      lineSegments(words, options)
        .map(({ part, text }) => parts[part](words.tone)(text))
        .join(''),
    dim: colors.dim,
    notice: colors.yellow,
  };
}

interface Growing {
  readonly type: Delta['type'];
  readonly messageId: string | undefined;
  readonly who: Speaker;
  readonly text: string;
}

interface Speaker {
  readonly role: string | undefined;
  readonly agent: string;
}

/** The text that models are writing: one text for each writing agent. */
class LiveText {
  /** In the order of the latest change. */
  readonly #growing = new Map<string, Growing>();

  add(dispatchId: string, delta: Delta, who: Speaker): void {
    const key = keyOf(dispatchId, delta.agentId);
    const before = this.#growing.get(key);
    const isContinued = before?.type === delta.type && before.messageId === delta.messageId;
    const text = ((isContinued ? before.text : '') + delta.text).slice(-longestKept);
    this.#growing.delete(key);
    this.#growing.set(key, { type: delta.type, messageId: delta.messageId, who, text });
  }

  /** Forgets the text of an agent, because it is in the log now. */
  finish(dispatchId: string, agentId: string | undefined): void {
    this.#growing.delete(keyOf(dispatchId, agentId));
  }

  forget(dispatchId: string): void {
    for (const key of this.#growing.keys())
      if (key.startsWith(keyOf(dispatchId, ''))) this.#growing.delete(key);
  }

  /** The end of the text that grew last, on one line that fits; '' if no agent writes. */
  render(columns: number): string {
    const latest = [...this.#growing.values()].at(-1);
    if (latest === undefined) return '';
    const { type, who, text } = latest;
    const kind = type === 'delta:thinking' ? 'thinking' : 'text';
    const place = [
      noTime,
      who.role ?? '',
      who.agent === '' ? '' : `(${who.agent})`,
      kind.padEnd(kindColumns),
    ];
    const prefix = neutraliseControlsInLine(place.filter((part) => part !== '').join('  '));
    const start = fitColumns(`${prefix}  `, columns);
    return start + fitColumns(neutraliseControlsInLine(text), columns - columnsOf(start), 'end');
  }
}

function keyOf(dispatchId: string, agentId = ''): string {
  return `${dispatchId} ${agentId}`;
}
