import { formatDuration } from '@hansard/facts';
import { useEffect } from 'preact/hooks';
import type { TreeAnswer, TreeLine } from '../../answers.ts';
import { useAnswer } from '../api.ts';
import { addressOf } from '../place-in-address.ts';
import { countText, timeText } from '../words.ts';

/** The dispatches of a task as trees, with what each cost, alone and with those below it. It updates itself. */
export function TreeScreen({ task }: { readonly task: string }) {
  const { answer, problem } = useAnswer<TreeAnswer>(`/api/tree?task=${encodeURIComponent(task)}`, () => true);
  useEffect(() => {
    document.title = `Tree · ${task} · Hansard`;
  }, [task]);
  return (
    <main class="library">
      <header>
        <a href={addressOf({ kind: 'library', task: null })}>Hansard</a>
        <h1>{task}</h1>
        <a href={addressOf({ kind: 'library', task })}>Sessions</a>
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {answer === null ? (
        problem === null ? (
          <p aria-busy="true">Reading…</p>
        ) : null
      ) : (
        <Tree task={task} answer={answer} />
      )}
    </main>
  );
}

function Tree({
  task,
  answer: { lines, isCut, cost, notes },
}: {
  readonly task: string;
  readonly answer: TreeAnswer;
}) {
  if (lines.length === 0) return <p>There are no sessions yet.</p>;
  return (
    <>
      {isCut ? <p class="note">Made from the newest {countText(lines.length)} sessions.</p> : null}
      <table class="tree">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">State</th>
            <th scope="col">Model</th>
            <th scope="col">Turns</th>
            <th scope="col">Tokens in</th>
            <th scope="col">Tokens out</th>
            <th scope="col">Cost</th>
            <th scope="col">With those below</th>
            <th scope="col">Duration</th>
            <th scope="col">Started (UTC)</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Line key={line.dispatchId} task={task} line={line} />
          ))}
        </tbody>
        {lines.length === 1 || cost === null ? null : (
          <tfoot>
            <tr>
              <th scope="row" colSpan={6}>
                All sessions
              </th>
              <td class="number">{cost}</td>
              <td colSpan={3} />
            </tr>
          </tfoot>
        )}
      </table>
      {notes.map((note) => (
        <p class="dim" key={note}>
          {note}
        </p>
      ))}
    </>
  );
}

function Line({ task, line }: { readonly task: string; readonly line: TreeLine }) {
  const { dispatchId, depth, name, status, model, startedAt, isOrphan } = line;
  const figure = (count: number | null) => (count === null ? '–' : countText(count));
  return (
    <tr>
      <th scope="row" style={{ paddingInlineStart: `${Math.min(depth, 8) * 16 + 8}px` }}>
        {depth === 0 ? '' : '└ '}
        <a href={addressOf({ kind: 'reader', task, id: dispatchId, at: null })}>{name}</a>
        {isOrphan ? <span class="dim"> its parent is not here</span> : null}
      </th>
      <td class={`state ${status}`}>{status}</td>
      <td>{model ?? '–'}</td>
      <td class="number">{figure(line.turns)}</td>
      <td class="number">{figure(line.inputTokens)}</td>
      <td class="number">{figure(line.outputTokens)}</td>
      <td class="number">{line.cost ?? '–'}</td>
      <td class="number">{line.subtreeCost ?? ''}</td>
      <td class="number">{line.durationMs === null ? '–' : formatDuration(line.durationMs)}</td>
      <td class="time">{timeText(startedAt)}</td>
    </tr>
  );
}
