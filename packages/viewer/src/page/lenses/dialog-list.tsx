import type { DialogHearing, DialogLine } from '../../lens-answers.ts';
import { colourOf } from '../words.ts';
import { Place } from './place.tsx';

interface DialogListProps {
  readonly lines: readonly DialogLine[];
  toEvent(position: number): string;
}

/** What was said, with who heard it, in other words, and who did not. */
export function DialogList({ lines, toEvent }: DialogListProps) {
  return (
    <ol class="talk">
      {lines.map(({ position, time, speaker, speakerId, text, isCut, heard, notHeardBy }) => {
        const plain = heard.filter(({ how }) => how === 'same' || how === 'wrapped');
        return (
          <li key={position}>
            <p>
              <b class={speakerId === null ? '' : `colour-${colourOf(speakerId)}`}>
                {speaker || 'dispatched agent'}
              </b>
              <Place position={position} time={time} toEvent={toEvent} />
            </p>
            <div>
              <pre class="words" dir="auto">
                {text}
                {isCut ? '…' : ''}
              </pre>
              {plain.length === 0 ? null : <p class="dim">heard by {plain.map(nameOf).join(', ')}</p>}
              {heard
                .filter((one) => !plain.includes(one))
                .map((one) => (
                  <Apart key={one.position} hearing={one} toEvent={toEvent} />
                ))}
              {notHeardBy === null ? null : <p class="notice">not heard by {notHeardBy}</p>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function nameOf({ name, how }: DialogHearing): string {
  const agent = name || 'dispatched agent';
  return how === 'same' ? agent : `${agent} (${how})`;
}

interface ApartProps {
  readonly hearing: DialogHearing;
  toEvent(position: number): string;
}

/** What a hook altered or withheld. */
function Apart({ hearing: { name, how, position, text }, toEvent }: ApartProps) {
  const agent = name || 'dispatched agent';
  return (
    <>
      <p class="notice">
        {how === 'withheld' ? `withheld from ${agent}` : `heard by ${agent}, altered`}{' '}
        <a href={toEvent(position)} aria-label={`Event ${position}`}>
          {position}
        </a>
      </p>
      {text === null ? null : (
        <pre class="body altered" dir="auto">
          {text}
        </pre>
      )}
    </>
  );
}
