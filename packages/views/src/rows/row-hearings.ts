import type { LogNode } from '../log/log-node.ts';
import type { HowHeard } from '../log/saying.ts';
import type { RowAgent } from './row.ts';
import { type RowGroup, textOf } from './row-group.ts';

/** Adds a delivery to the row of what was said. */
export function hear(
  group: RowGroup,
  { event, position }: LogNode,
  {
    text,
    agent,
    isAltered,
  }: { readonly text: string; readonly agent: RowAgent; readonly isAltered: boolean },
): void {
  const { substance, id: eventId } = event;
  const passedOn = group.hearings.find((earlier) => earlier.eventId === substance);
  const how = isAltered ? 'altered' : howHeard(textOf(group), text, passedOn?.how);
  group.hearings.push({ agent, how, position, eventId, text });
}

/** Adds the decision that kept what was said from an agent. */
export function withhold(group: RowGroup, { event, position }: LogNode, agent: RowAgent): void {
  group.hearings.push({ agent, how: 'withheld', position, eventId: event.id, text: null });
}

/** An altered text that is passed on stays altered, unless it is again exactly what was said. */
function howHeard(said: string, received: string, passedOn: HowHeard | undefined): HowHeard {
  if (received === said) return 'same';
  return received.includes(said) && passedOn !== 'altered' ? 'wrapped' : 'altered';
}
