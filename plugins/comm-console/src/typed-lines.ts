import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type DispatchEnvelope, messageOf } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { CommunicationHost, DispatchNotice } from '@hansard/provider';
import { columnsOf, padColumns } from '@hansard/views';

const shownOfId = 4;

export interface TypedLineOptions {
  readonly host: CommunicationHost;
  readonly running: RunningDispatches;
  /** Shows a line to the person. */
  readonly say: (text: string) => void;
}

/** How a person writes a line that begins with `@`. */
const escaped = '@@';

/**
 * Delivers each line of an input as a message, one after the other, and ignores empty lines:
 *
 * - `text` goes to the dispatch that was chosen, or else to the one that started last.
 * - `@NAME text` goes to the dispatch of that role, or with that end of its id.
 * - `@NAME` chooses the dispatch of later lines, until it ends.
 * - `@` lists the running dispatches.
 * - `@@text` is a line that begins with `@`.
 *
 * Reports a message that was not delivered. @returns a function that ends the reading
 */
export function readTypedLines(input: Readable, options: TypedLineOptions): () => void {
  const lines = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const typed = new TypedLines(options);
  let delivered = Promise.resolve();
  lines.on('line', (line) => {
    const text = line.trim();
    if (text !== '') delivered = delivered.then(() => typed.take(text));
  });
  // Errors of the input arrive here, too.
  lines.on('error', (error) => options.say(`No more messages can be typed: ${messageOf(error)}`));
  return () => {
    typed.stop();
    lines.close();
  };
}

class TypedLines {
  readonly #host: CommunicationHost;
  readonly #running: RunningDispatches;
  readonly #say: (text: string) => void;
  #isStopped = false;
  /** Where lines without a name go; null: to the dispatch that started last. */
  #chosen: RunningDispatch | null = null;

  constructor({ host, running, say }: TypedLineOptions) {
    this.#host = host;
    this.#running = running;
    this.#say = say;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async take(line: string): Promise<void> {
    if (this.#isStopped) return;
    if (line.startsWith(escaped)) return this.#deliver(line.slice(1));
    if (!line.startsWith('@')) return this.#deliver(line);
    const [, name = '', text = ''] = /^@(\S*)\s*(.*)$/s.exec(line) ?? [];
    if (name === '') return text === '' ? this.#list() : this.#refuse('@ is followed by a space.');
    const named = this.#running.named(name);
    const [only] = named;
    if (only === undefined) return this.#refuse(`nothing that runs is called ${name}.`);
    if (named.length > 1)
      return this.#refuse(`${name} is the name of several: ${named.map(nameOf).join(', ')}.`);
    if (text !== '') return this.#send(text, only);
    this.#chosen = only;
    this.#say(`Lines without a name go to ${only.label} now.`);
  }

  async #deliver(text: string): Promise<void> {
    const chosen = this.#chosen;
    if (chosen !== null && !this.#running.all.some(({ dispatchId }) => dispatchId === chosen.dispatchId)) {
      this.#chosen = null;
      return this.#say(
        `Not delivered: ${chosen.label} has ended. Lines without a name go to the latest one again.`,
      );
    }
    await this.#send(text, chosen);
  }

  async #send(text: string, to: RunningDispatch | null): Promise<void> {
    try {
      if (await this.#host.deliver({ text, ...(to === null ? {} : { dispatchId: to.dispatchId }) })) return;
      const why = to === null ? 'no dispatch is running' : `${to.label} takes no messages`;
      if (!this.#isStopped) this.#say(`Not delivered: ${why}.`);
    } catch (error) {
      if (!this.#isStopped) this.#say(`Not delivered: ${messageOf(error)}`);
    }
  }

  #list(): void {
    const { all } = this.#running;
    if (all.length === 0) this.#say('Nothing is running.');
    const target = (this.#chosen ?? this.#running.latest)?.dispatchId;
    for (const one of all) {
      const isTarget = one.dispatchId === target ? ', gets lines without a name' : '';
      const isDeaf = this.#host.accepts(one.dispatchId).messages ? '' : ', takes no messages';
      this.#say(`@${nameOf(one)}  ${one.label}, ${one.taskDir}${isTarget}${isDeaf}`);
    }
  }

  #refuse(why: string): void {
    this.#say(`Not delivered: ${why} \`@\` lists what runs; a line that begins with @ is typed as @@.`);
  }
}

/** The word that names a dispatch and no other. */
function nameOf({ label, dispatchId }: RunningDispatch): string {
  return /\s/.test(label) ? dispatchId.slice(-4) : label;
}

/** A running dispatch as a person names it. */
interface RunningDispatch {
  readonly dispatchId: string;
  readonly taskDir: string;
  /** Its role, with the end of its id if another dispatch has the same role. */
  readonly label: string;
}

/** The running dispatches, and the labels that distinguish them. */
export class RunningDispatches {
  readonly #notices = new Map<string, DispatchNotice>();

  add(notice: DispatchNotice): void {
    this.#notices.set(notice.envelope.dispatchId, notice);
  }

  remove(dispatchId: string): void {
    this.#notices.delete(dispatchId);
  }

  /** All that run, in the order in which they started. */
  get all(): readonly RunningDispatch[] {
    const notices = [...this.#notices.values()];
    const envelopes = notices.map(({ envelope }) => envelope);
    return notices.map(({ taskDir, envelope }) => ({
      dispatchId: envelope.dispatchId,
      taskDir,
      label: label(envelope, envelopes),
    }));
  }

  /** The one that gets messages without a name: the last one that is not a worker, or else the last one. */
  get latest(): RunningDispatch | undefined {
    const isWorker = ({ dispatchId }: RunningDispatch) =>
      this.#notices.get(dispatchId)?.envelope.parentDispatchId !== null;
    return this.all.findLast((one) => !isWorker(one)) ?? this.all.at(-1);
  }

  /** Those with this role, or with an id that ends with the word (at least four characters), ignoring case. */
  named(word: string): readonly RunningDispatch[] {
    const wanted = word.toLowerCase();
    const isEnd = (id: string) => wanted.length >= shownOfId && id.toLowerCase().endsWith(wanted);
    return this.all.filter(({ dispatchId }) => {
      const role = this.#notices.get(dispatchId)?.envelope.role ?? '';
      return role.toLowerCase() === wanted || isEnd(dispatchId);
    });
  }

  /** The label of a dispatch's lines, padded to the widest. Undefined while no other dispatch runs. */
  labelOf(envelope: DispatchEnvelope): string | undefined {
    const all = [...this.#notices.values()]
      .map((notice) => notice.envelope)
      .filter(({ dispatchId }) => dispatchId !== envelope.dispatchId);
    if (all.length === 0) return undefined;
    all.push(envelope);
    const widest = Math.max(...all.map((one) => columnsOf(label(one, all))));
    return padColumns(label(envelope, all), widest);
  }
}

function label({ role, dispatchId }: DispatchEnvelope, all: readonly DispatchEnvelope[]): string {
  const isShared = all.filter((other) => other.role === role).length > 1;
  return neutraliseControlsInLine(isShared ? `${role} ${dispatchId.slice(-shownOfId)}` : role);
}
