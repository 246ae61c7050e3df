import { Fragment } from 'preact';
import type { TalkLine } from '../../answers.ts';
import { clockText, colourOf } from '../words.ts';

interface TalkListProps {
  readonly lines: readonly TalkLine[];
  toEvent(position: number): string;
}

/** A conversation: what was said and who heard it, or what one agent was given, thought, did and said. */
export function TalkList({ lines, toEvent }: TalkListProps) {
  return (
    <ol class="talk">
      {lines.map(({ position, time, agentId, spans, blocks }, at) => (
        <li key={`${position} ${at}`} class={spans.find(({ label }) => label === 'word')?.text}>
          <p>
            {spans.map(({ label, text }) => (
              <Fragment key={label}>
                {label === 'head' ? (
                  text
                ) : (
                  <b class={label === 'agent' && agentId !== null ? `colour-${colourOf(agentId)}` : ''}>
                    {text}
                  </b>
                )}{' '}
              </Fragment>
            ))}
            <Place position={position} time={time} toEvent={toEvent} />
          </p>
          <div>
            {blocks.map((block, number) =>
              block.kind === 'note' ? (
                <p key={number} class={block.tone}>
                  {block.spans.map(({ text, position: place }, word) => (
                    <Fragment key={word}>
                      {word === 0 ? '' : ' '}
                      {place === undefined || block.tone === 'dim' ? (
                        text
                      ) : (
                        <a href={toEvent(place)}>{text}</a>
                      )}
                    </Fragment>
                  ))}
                </p>
              ) : block.kind === 'text' ? (
                <pre key={number} class={block.source === 'content' ? 'words' : 'body altered'} dir="auto">
                  {block.text}
                </pre>
              ) : null,
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

interface PlaceProps {
  readonly position: number;
  readonly time: number | null;
  toEvent(position: number): string;
}

/** The position of an event, as a link to it, and its time. */
function Place({ position, time, toEvent }: PlaceProps) {
  return (
    <small>
      <a href={toEvent(position)} aria-label={`Event ${position}`}>
        {position}
      </a>{' '}
      <time>{clockText(time)}</time>
    </small>
  );
}
