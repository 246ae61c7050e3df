import { dispatchedAgent } from '@hansard/views';
import type { HeardAnswer } from '../../answers.ts';
import { colourOf } from '../words.ts';

interface HeardTableProps {
  readonly answer: HeardAnswer;
  toEvent(position: number): string;
}

/** A line for each thing that was said, a column for each agent. */
export function HeardTable({ answer: { agents, lines }, toEvent }: HeardTableProps) {
  if (lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="wide" aria-label="Who heard what" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Said by</th>
            <th scope="col">Text</th>
            {agents.map(({ id, name }) => (
              <th scope="col" key={id} class={`colour-${colourOf(id)}`}>
                {name || dispatchedAgent}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ position, speaker, text, isCut, cells }) => (
            <tr key={position}>
              <td class="number">
                <a href={toEvent(position)} aria-label={`Event ${position}`}>
                  {position}
                </a>
              </td>
              <td>{speaker || dispatchedAgent}</td>
              <th scope="row" dir="auto">
                {text}
                {isCut ? '…' : ''}
              </th>
              {cells.map((cell, at) => (
                <td key={agents[at]?.id} class={`cell ${cell.split(/[ ,]/, 1)[0]}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
