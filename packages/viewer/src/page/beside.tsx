import { formatCost } from '@hansard/facts';
import { dispatchedAgent } from '@hansard/views';
import type { DispatchName } from './api.ts';
import { addressOf, type ReaderPlace } from './place-in-address.ts';
import type { ReaderState } from './reader-state.ts';
import { colourOf } from './words.ts';

interface BesideProps {
  readonly reader: ReaderState;
  readonly place: ReaderPlace;
}

/** Beside the rows: the dispatches above and below this one, and its agents. Each is a link. */
export function Beside({ reader, place }: BesideProps) {
  const { name, tree, agents } = reader;
  return (
    <nav class="beside" aria-label="Sessions and agents">
      <h2>Sessions</h2>
      <ul>
        {tree.map(({ dispatchId, depth, name: title, status, cost, subtreeCost }) => (
          <li key={dispatchId} style={{ paddingInlineStart: `${Math.min(depth, 6) * 12}px` }}>
            <a
              href={readerAddress({ ...name, id: dispatchId })}
              aria-current={dispatchId === name.id ? 'page' : undefined}
            >
              {title}
            </a>{' '}
            <span class={`state ${status}`}>{status}</span>
            <span class="number">
              {cost === null ? '' : ` ${formatCost(cost)}`}
              {subtreeCost === null || subtreeCost === cost
                ? ''
                : `, ${formatCost(subtreeCost)} with those below`}
            </span>
          </li>
        ))}
      </ul>
      {agents.length === 0 ? null : <h2>Agents</h2>}
      <ul>
        {agents.map(({ id, name: agent, hasEnded, position }) => (
          <li key={id}>
            <a class={`colour-${colourOf(id)}`} href={addressOf({ ...place, at: position, open: null })}>
              {agent || dispatchedAgent}
            </a>
            {hasEnded ? <span class="ended"> ended</span> : null}
          </li>
        ))}
      </ul>
    </nav>
  );
}

function readerAddress({ task, id }: DispatchName): string {
  return addressOf({ kind: 'reader', task, id, at: null });
}
