import { formatSpending, spendingOf, tokensInWords } from '@hansard/facts';
import { useEffect, useState } from 'preact/hooks';
import { LatestAnswer, type Listing, readDispatches } from './api.ts';
import { addressOf, goTo } from './place-in-address.ts';
import { timeText } from './words.ts';

interface LibraryProps {
  readonly task: string | null;
  readonly filter: string;
}

/** The dispatches of the store, or of a task, newest first. It updates itself. */
export function LibraryScreen({ task, filter }: LibraryProps) {
  const { listings, problem, hasOlder, readOlder } = useListings(task);
  const shown = listings?.filter((listing) => textOf(listing).toLowerCase().includes(filter.toLowerCase()));
  return (
    <main class="library">
      <header>
        <h1>{task === null ? 'Sessions' : task}</h1>
        {task === null ? null : (
          <>
            <a href={addressOf({ kind: 'library', task: null })}>All tasks</a>
            <a href={addressOf({ kind: 'tree', task })}>Tree and cost</a>
          </>
        )}
        <a href={addressOf({ kind: 'search', text: '', task })}>Find in events</a>
        <input
          type="search"
          aria-label="Filter"
          placeholder="Filter"
          value={filter}
          onInput={({ currentTarget: { value } }) =>
            goTo({ kind: 'library', task, filter: value }, 'replace')
          }
        />
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {shown === undefined ? (
        <p aria-busy="true">Reading…</p>
      ) : shown.length === 0 ? (
        <p>
          {listings?.length === 0
            ? 'There are no sessions yet.'
            : `None of ${hasOlder ? `the newest ${listings?.length}` : 'the'} sessions has this text.`}
        </p>
      ) : (
        <Listings shown={shown} />
      )}
      {hasOlder ? (
        <p>
          <button type="button" onClick={readOlder}>
            Older sessions
          </button>
        </p>
      ) : null}
    </main>
  );
}

/** The newest pages of the dispatches, read again after changes of the store. */
function useListings(task: string | null) {
  const [listings, setListings] = useState<readonly Listing[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [hasOlder, setHasOlder] = useState(false);
  const [pages, setPages] = useState(1);
  useEffect(() => {
    document.title = task === null ? 'Hansard' : `${task} · Hansard`;
    const answers = new LatestAnswer<Awaited<ReturnType<typeof readDispatches>>>();
    const read = () =>
      answers.of(readDispatches(task, pages)).then(
        (page) => {
          if (page === null) return;
          setListings(page.dispatches);
          setHasOlder(page.next !== null);
          setProblem(null);
        },
        (error: Error) => setProblem(error.message),
      );
    void read();
    const changes = new EventSource('/api/changes');
    changes.onmessage = () => void read();
    // A connection begins: what changed before it is not reported.
    changes.addEventListener('hello', () => void read());
    return () => changes.close();
  }, [task, pages]);
  return { listings, problem, hasOlder, readOlder: () => setPages(pages + 1) };
}

function Listings({ shown }: { readonly shown: readonly Listing[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col">Task</th>
          <th scope="col">State</th>
          <th scope="col">Model</th>
          <th scope="col">Tokens</th>
          <th scope="col">Cost</th>
          <th scope="col">Last active (UTC)</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((listing) => (
          <ListingRow key={`${listing.taskDir}/${listing.dispatchId}`} listing={listing} />
        ))}
      </tbody>
    </table>
  );
}

function ListingRow({ listing }: { readonly listing: Listing }) {
  const { taskDir, dispatchId, envelope, lastActiveAt, error } = listing;
  const name = envelope?.title ?? envelope?.role ?? dispatchId ?? taskDir;
  return (
    <tr>
      <th scope="row">
        {dispatchId === null ? (
          name
        ) : (
          <a href={addressOf({ kind: 'reader', task: taskDir, id: dispatchId, at: null })}>{name}</a>
        )}
      </th>
      <td>
        <a href={addressOf({ kind: 'library', task: taskDir })}>{taskDir}</a>
      </td>
      {envelope === null ? (
        <td class="bad" colSpan={4}>
          {error ?? 'It cannot be read.'}
        </td>
      ) : (
        <>
          <td class={`state ${envelope.status}`}>{envelope.status}</td>
          <td>{envelope.model}</td>
          <td class="number" data-label="tokens">
            {tokensInWords(envelope)}
          </td>
          <td class="number" data-label="cost">
            {formatSpending(spendingOf(envelope))}
          </td>
        </>
      )}
      <td class="time" data-label="last active (UTC)">
        {timeText(lastActiveAt ?? envelope?.completedAt ?? envelope?.startedAt ?? null)}
      </td>
    </tr>
  );
}

function textOf({ taskDir, dispatchId, envelope }: Listing): string {
  return [taskDir, dispatchId, envelope?.title, envelope?.role, envelope?.status, envelope?.model].join(' ');
}
