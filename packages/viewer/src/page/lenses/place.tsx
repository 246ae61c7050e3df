import { clockText } from '../words.ts';

interface PlaceProps {
  readonly position: number;
  readonly time: number | null;
  toEvent(position: number): string;
}

/** The position of an event, as a link to it, and its time. */
export function Place({ position, time, toEvent }: PlaceProps) {
  return (
    <small>
      <a href={toEvent(position)} aria-label={`Event ${position}`}>
        {position}
      </a>{' '}
      <time>{clockText(time)}</time>
    </small>
  );
}
