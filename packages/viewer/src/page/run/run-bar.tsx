import { dispatchedAgent } from '@hansard/views';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type DispatchName, pathOf, post } from '../api.ts';
import type { ReaderState } from '../reader-state.ts';
import { colourOf } from '../words.ts';

/** Milliseconds. A writer is announced at most this often. */
const announceMs = 5_000;

/** Under the rows of a dispatch that runs in the process of the viewer: what is being written, a message to the agent, and its end. */
export function RunBar({ reader }: { readonly reader: ReaderState }) {
  const { run } = reader;
  const [status, setStatus] = useState('');
  const nameOf = (agentId: string) => reader.agents.find(({ id }) => id === agentId)?.name || dispatchedAgent;
  const writers = [...new Set(run.texts.map(({ agentId }) => nameOf(agentId)))];
  const announced = useAnnounced(
    writers.length === 0 ? '' : `${writers.join(', ')} ${writers.length === 1 ? 'is' : 'are'} writing.`,
  );
  if (!run.wasRunning) return null;
  const { messages = false, abort = false } = run.controls ?? {};

  return (
    <section class="run" aria-label="Run" onKeyDown={(event) => event.stopPropagation()}>
      {run.texts.map(({ key, agentId, kind, text, isCut }) => (
        <Growing
          key={key}
          agent={nameOf(agentId)}
          shown={agentId === '' ? '' : nameOf(agentId)}
          colour={colourOf(agentId)}
          kind={kind}
          text={isCut ? `… ${text}` : text}
        />
      ))}
      {messages || abort ? (
        <div class="say">
          {messages ? <Message name={reader.name} setStatus={setStatus} /> : null}
          {abort ? <Abort name={reader.name} setStatus={setStatus} /> : null}
        </div>
      ) : null}
      <p role="status">{[status, announced].filter(Boolean).join(' ')}</p>
    </section>
  );
}

interface SayingProps {
  readonly name: DispatchName;
  /** Takes the result in words. */
  setStatus(status: string): void;
}

function Message({ name, setStatus }: SayingProps) {
  const [isSending, setSending] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  const send = async () => {
    const text = input.current?.value.trim() ?? '';
    if (text === '' || isSending) return;
    setSending(true);
    const problem = await post(`${pathOf(name)}/message`, { text });
    setSending(false);
    setStatus(problem === null ? 'Delivered.' : `Not delivered. ${problem}`);
    if (problem === null && input.current?.value.trim() === text) input.current.value = '';
  };
  return (
    <>
      <textarea
        id="message"
        rows={1}
        aria-label="Message to the agent"
        placeholder="Message to the agent ( m )"
        ref={input}
        onInput={() => setStatus('')}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <button type="button" onClick={() => void send()}>
        Send
      </button>
    </>
  );
}

/** Aborts a run after a confirmation. */
function Abort({ name, setStatus }: SayingProps) {
  const confirming = useRef<HTMLDialogElement>(null);
  const end = async () => {
    confirming.current?.close();
    const problem = await post(`${pathOf(name)}/abort`, {});
    setStatus(problem === null ? 'Aborting.' : `Not aborted. ${problem}`);
  };
  return (
    <>
      <button type="button" class="abort" onClick={() => confirming.current?.showModal()}>
        Abort
      </button>
      <dialog ref={confirming} aria-labelledby="abort-question">
        <p id="abort-question">Abort this session and its workers? What they recorded stays.</p>
        <button type="button" onClick={() => confirming.current?.close()}>
          Let it run
        </button>
        <button type="button" onClick={() => void end()}>
          Abort the session
        </button>
      </dialog>
    </>
  );
}

interface GrowingProps {
  readonly agent: string;
  /** As in its rows. */
  readonly shown: string;
  readonly colour: number;
  readonly kind: string;
  readonly text: string;
}

function Growing({ agent, shown, colour, kind, text }: GrowingProps) {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (element.current !== null) element.current.scrollTop = element.current.scrollHeight;
  });
  return (
    <section
      class={`growing ${kind}`}
      ref={element}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      aria-label={`${agent} is writing`}
    >
      <span class={`colour-${colour}`}>{shown}</span>
      <span class="mode">{kind}</span>
      <span class="words" dir="auto">
        {text}
      </span>
    </section>
  );
}

/** A text that changes at most once per `announceMs`, so that a screen reader can keep up. */
function useAnnounced(text: string): string {
  const [announced, setAnnounced] = useState('');
  const last = useRef(0);
  useEffect(() => {
    if (text === announced) return;
    const timer = setTimeout(
      () => {
        last.current = performance.now();
        setAnnounced(text);
      },
      last.current === 0 ? 0 : Math.max(0, last.current + announceMs - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, announced]);
  return announced;
}
