import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { DispatchNotice } from '@hansard/provider';
import { columnsOf, padColumns } from '@hansard/views';

const shownOfId = 4;

/** A running dispatch as a person names it. */
export interface RunningDispatch {
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
