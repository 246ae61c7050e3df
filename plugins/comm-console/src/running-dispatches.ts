import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { columnsOf, padColumns } from '@hansard/views';

const shownOfId = 4;

/** The running dispatches, and the labels that distinguish their lines. */
export class RunningDispatches {
  readonly #envelopes = new Map<string, DispatchEnvelope>();

  add(envelope: DispatchEnvelope): void {
    this.#envelopes.set(envelope.dispatchId, envelope);
  }

  remove(dispatchId: string): void {
    this.#envelopes.delete(dispatchId);
  }

  /**
   * The label of a dispatch's lines, padded to the widest: its role, with the end of its id if another dispatch has the
   * same role. Undefined while no other dispatch runs.
   */
  labelOf(envelope: DispatchEnvelope): string | undefined {
    const all = [...this.#envelopes.values()].filter(({ dispatchId }) => dispatchId !== envelope.dispatchId);
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
