import type { Readable } from 'node:stream';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type {
  CommunicationHost,
  CommunicationProvider,
  DeltaNotice,
  DispatchNotice,
  DispatchStartNotice,
  EventNotice,
} from '@hansard/provider';
import { eventWords, type Words } from '@hansard/views';
import { DispatchNames } from './dispatch-names.ts';
import { dispatchEndWords, dispatchStartWords } from './dispatch-words.ts';
import { LiveText } from './live-text.ts';
import { createPainter } from './painter.ts';
import { readMessages } from './read-messages.ts';
import { RunningDispatches } from './running-dispatches.ts';
import { type ConsoleOutput, Screen } from './screen.ts';

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
 * Shows each event as one line, and delivers each line that the user types to the dispatch that started last. A
 * terminal gets lines that fit its width, other outputs get whole lines. After the reader of the output has gone, nothing is written.
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
        stopReading = readMessages(input, host, say);
      }
    },

    dispatchStarted(notice: DispatchStartNotice) {
      const { envelope, agents = [] } = notice;
      running.add(envelope);
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
