import { formatCount } from '@hansard/facts';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Marks, PersonsMark } from '../answers.ts';
import { ask, type DispatchName, post } from './api.ts';
import { agoText } from './library-list.ts';

type Place = PersonsMark['on'];

interface MarksHere extends Marks {
  /** Makes a mark. Null: it is made; otherwise why not, for people. */
  add(mark: Partial<PersonsMark> & Pick<PersonsMark, 'kind' | 'on'>): Promise<string | null>;
  remove(mark: PersonsMark): Promise<string | null>;
}

const none: MarksHere = {
  reader: null,
  marks: [],
  problems: [],
  add: async () => 'Not read yet.',
  remove: async () => 'Not read yet.',
};

const HereContext = createContext<MarksHere>(none);

/** The marks of the session that is shown. */
export const useSessionMarks = (): MarksHere => useContext(HereContext);

export function WithMarks({ name, children }: { readonly name: DispatchName; children: ComponentChildren }) {
  return <HereContext.Provider value={useMarks(name)}>{children}</HereContext.Provider>;
}

/** The marks of a session, or of the store. They are read again after each change here, and when the reader comes back to the page. */
export function useMarks(name: DispatchName | null): MarksHere {
  const [answer, setAnswer] = useState<Marks>(none);
  const query = name === null ? '' : `?${new URLSearchParams({ task: name.task, id: name.id })}`;
  const read = useMemo(
    () => () =>
      ask<Marks>(`/api/marks${query}`).then(setAnswer, ({ message }: Error) =>
        setAnswer((last) => ({ ...last, problems: [message] })),
      ),
    [query],
  );
  useEffect(() => {
    void read();
    const onShow = () => document.visibilityState === 'visible' && void read();
    addEventListener('focus', onShow);
    document.addEventListener('visibilitychange', onShow);
    return () => {
      removeEventListener('focus', onShow);
      document.removeEventListener('visibilitychange', onShow);
    };
  }, [read]);
  const send = async (what: 'add' | 'remove', body: object) => {
    const problem = await post(`/api/marks/${what}`, body);
    await read();
    return problem;
  };
  return {
    ...answer,
    add: (mark) => send('add', mark),
    remove: ({ id, on }) => send('remove', { mark: id, on }),
  };
}

/** The marks on one place: its bookmark, rating and tags on a line, its notes below. */
export function PlaceMarks({ on }: { readonly on: Exclude<Place, null> }) {
  const { reader, marks, problems, add, remove } = useSessionMarks();
  const [problem, setProblem] = useState<string | null>(null);
  const here = marks.filter((mark) => mark.on?.position === on.position);
  const own = (kind: PersonsMark['kind']) =>
    here.find((mark) => mark.kind === kind && mark.reader === reader);
  const run = async (done: Promise<string | null>) => {
    const answer = await done;
    setProblem(answer);
    return answer === null;
  };
  const bookmark = own('bookmark');
  const rating = own('rating');
  if (reader === null && here.length === 0 && problems.length === 0) return null;
  return (
    <section
      class="place-marks"
      aria-label={on.position === null ? 'Marks on the session' : 'Marks on the event'}
    >
      <p>
        {reader === null ? null : (
          <>
            <button
              type="button"
              class="star"
              aria-pressed={bookmark !== undefined}
              title="Bookmark"
              aria-label="Bookmark"
              onClick={() =>
                void run(bookmark === undefined ? add({ on, kind: 'bookmark' }) : remove(bookmark))
              }
            >
              {bookmark === undefined ? '☆' : '★'}
            </button>
            <Rating
              stars={rating?.rating ?? 0}
              onRate={(stars) =>
                stars > 0
                  ? void run(add({ on, kind: 'rating', rating: stars }))
                  : rating !== undefined && void run(remove(rating))
              }
            />
          </>
        )}
        {here
          .filter(({ kind, id }) => kind !== 'note' && id !== rating?.id && id !== bookmark?.id)
          .map((mark) => (
            <MarkChip
              key={mark.id}
              mark={mark}
              onRemove={mark.reader === reader && mark.kind === 'tag' ? () => void run(remove(mark)) : null}
            />
          ))}
        {reader === null ? null : <NewMark on={on} onAdd={(mark) => run(add(mark))} />}
      </p>
      {here
        .filter(({ kind }) => kind === 'note')
        .map((mark) => (
          <NoteText
            key={mark.id}
            mark={mark}
            onRemove={mark.reader === reader ? () => void run(remove(mark)) : null}
          />
        ))}
      <Problems texts={problem === null ? problems : [problem, ...problems]} />
    </section>
  );
}

export function Problems({ texts }: { readonly texts: readonly string[] }) {
  return (
    <>
      {texts.map((text) => (
        <p role="alert" key={text}>
          {text}
        </p>
      ))}
    </>
  );
}

/** `stars`: 0 without a rating. */
function Rating({ stars, onRate }: { readonly stars: number; onRate(stars: number): void }) {
  return (
    <select
      aria-label="Rating"
      value={String(stars)}
      onChange={({ currentTarget: { value } }) => onRate(Number(value))}
    >
      <option value="0">Rate</option>
      {[5, 4, 3, 2, 1].map((count) => (
        <option key={count} value={String(count)}>
          {count} / 5
        </option>
      ))}
    </select>
  );
}

function MarkChip({
  mark,
  onRemove,
}: {
  readonly mark: PersonsMark;
  readonly onRemove: (() => void) | null;
}) {
  return (
    <span class="tag" title={`by ${mark.reader}`}>
      <bdi>{wordsOf(mark)}</bdi>
      {onRemove === null ? null : (
        <button type="button" aria-label={`Remove the tag ${mark.text}`} onClick={onRemove}>
          ×
        </button>
      )}
    </span>
  );
}

function wordsOf({ kind, text, rating, reader }: PersonsMark): string {
  if (kind === 'tag') return `#${text}`;
  return `${kind === 'rating' ? `${rating}/5` : '★'} ${reader}`;
}

interface NewMarkProps {
  readonly on: Exclude<Place, null>;
  onAdd(mark: Pick<PersonsMark, 'on' | 'kind' | 'text'>): Promise<boolean>;
}

/** A word after `#` is a tag, everything else a note. */
function NewMark({ on, onAdd }: NewMarkProps) {
  const input = useRef<HTMLInputElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    const text = input.current?.value.trim() ?? '';
    if (text === '') return;
    const tag = /^#(\S.*)$/.exec(text)?.[1];
    const isMade = await onAdd({ on, kind: tag === undefined ? 'note' : 'tag', text: tag ?? text });
    if (isMade && input.current?.value.trim() === text) input.current.value = '';
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <input
        type="text"
        ref={input}
        aria-label={on.position === null ? 'Note or #tag on the session' : 'Note or #tag on the event'}
        placeholder="Note, or #tag"
        maxLength={10_000}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
    </form>
  );
}

function NoteText({
  mark,
  onRemove,
}: {
  readonly mark: PersonsMark;
  readonly onRemove: (() => void) | null;
}) {
  return (
    <p class="note-text">
      <b>{mark.reader}</b> <span dir="auto">{mark.text}</span>{' '}
      <time class="dim">{agoText(mark.at, Date.now())}</time>
      {onRemove === null ? null : (
        <button type="button" aria-label="Remove the note" onClick={onRemove}>
          ×
        </button>
      )}
    </p>
  );
}

/** The marks on an event, beside its text: nothing can be changed here. */
export function MarksBelow({ positions }: { readonly positions: readonly number[] }) {
  const { marks } = useSessionMarks();
  const here = marks.filter(
    ({ on }) => on !== null && on.position !== null && positions.includes(on.position),
  );
  if (here.length === 0) return null;
  return (
    <div class="marks-below">
      <MarkSigns marks={here} />
      {here
        .filter(({ kind }) => kind === 'note')
        .map((mark) => (
          <NoteText key={mark.id} mark={mark} onRemove={null} />
        ))}
    </div>
  );
}

/** A bookmark, ratings and tags in a few characters, and how many notes there are. */
export function MarkSigns({
  marks,
  withNotes = false,
  onTag,
}: {
  readonly marks: readonly PersonsMark[];
  readonly withNotes?: boolean;
  readonly onTag?: (tag: string) => void;
}) {
  const of = (kind: PersonsMark['kind']) => marks.filter((mark) => mark.kind === kind);
  const notes = of('note');
  const tags = [...new Set(of('tag').map(({ text }) => text))];
  return (
    <span class="mark-signs">
      {of('bookmark').length === 0 ? null : (
        <span class="star" role="img" aria-label="bookmarked">
          ★
        </span>
      )}
      {of('rating').map(({ id, rating, reader }) => (
        <span key={id} title={`by ${reader}`}>
          {rating}/5
        </span>
      ))}
      {tags.map((tag) =>
        onTag === undefined ? (
          <bdi class="tag" key={tag}>
            #{tag}
          </bdi>
        ) : (
          <button type="button" class="tag" key={tag} onClick={() => onTag(tag)}>
            <bdi>#{tag}</bdi>
          </button>
        ),
      )}
      {!withNotes || notes.length === 0 ? null : (
        <span title={notes.map(({ reader, text }) => `${reader}: ${text}`).join('\n')}>
          {formatCount(notes.length, 'note')}
        </span>
      )}
    </span>
  );
}

/** The filters that readers saved, and a button that saves the one that is shown. */
export function SavedFilters({ here, address }: { readonly here: MarksHere; readonly address: string }) {
  const [isNaming, setNaming] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const filters = here.marks.filter(({ kind }) => kind === 'filter');
  const isSaved = filters.some((filter) => filter.address === address);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('name') ?? '');
    const answer = await here.add({ on: null, kind: 'filter', text, address });
    setProblem(answer);
    setNaming(answer !== null);
  };
  if (filters.length === 0 && (here.reader === null || address === '#/')) return null;
  return (
    <nav class="saved" aria-label="Saved filters">
      {filters.map((filter) => (
        <span key={filter.id} class="tag" title={`saved by ${filter.reader}`}>
          <a
            href={filter.address.startsWith('#/') ? filter.address : '#/'}
            aria-current={filter.address === address}
          >
            <bdi>{filter.text}</bdi>
          </a>
          {filter.reader === here.reader ? (
            <button
              type="button"
              aria-label={`Remove the filter ${filter.text}`}
              onClick={async () => setProblem(await here.remove(filter))}
            >
              ×
            </button>
          ) : null}
        </span>
      ))}
      {here.reader === null || address === '#/' || isSaved ? null : isNaming ? (
        <form onSubmit={(event) => void save(event)}>
          <input
            name="name"
            type="text"
            aria-label="Name of the filter"
            placeholder="Name of the filter"
            maxLength={60}
            required
            onKeyDown={({ key }) => key === 'Escape' && setNaming(false)}
          />
          <button type="submit">Save</button>
        </form>
      ) : (
        <button type="button" class="chip" onClick={() => setNaming(true)}>
          Save this filter
        </button>
      )}
      {problem === null ? null : <span role="alert">{problem}</span>}
    </nav>
  );
}
