import type { PerspectiveLine } from '../../lens-answers.ts';
import { Place } from './place.tsx';

interface PerspectiveListProps {
  readonly lines: readonly PerspectiveLine[];
  toEvent(position: number): string;
}

/** What one agent was given, thought, did and said. */
export function PerspectiveList({ lines, toEvent }: PerspectiveListProps) {
  return (
    <ol class="talk">
      {lines.map(({ position, time, kind, about, text, isCut }, at) => (
        <li key={`${position} ${at}`} class={kind}>
          <p>
            <b>{kind}</b> {about}
            <Place position={position} time={time} toEvent={toEvent} />
          </p>
          <pre class="words" dir="auto">
            {text}
            {isCut ? '…' : ''}
          </pre>
        </li>
      ))}
    </ol>
  );
}
