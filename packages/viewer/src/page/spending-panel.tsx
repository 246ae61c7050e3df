import { formatTokens } from '@hansard/facts';
import type { SpentDay, SpentShare, StoreSpending } from '../answers.ts';
import { projectName } from './library-list.ts';
import type { LibraryPlace } from './place-in-address.ts';
import { countText } from './words.ts';

interface SpendingPanelProps {
  /** Null: it is read. */
  readonly spending: StoreSpending | null;
  readonly problem: string | null;
  readonly place: LibraryPlace;
  onChange(part: Partial<LibraryPlace>): void;
}

/** What the last 30 days cost, by day, project and model. A bar filters the sessions. */
export function SpendingPanel({ spending, problem, place, onChange }: SpendingPanelProps) {
  if (problem !== null) return <p role="alert">The figures of the last 30 days cannot be read: {problem}</p>;
  if (spending === null) return <div class="spending" aria-busy="true" />;
  const { days, projects, models, cost, isCut } = spending;
  const today = days.at(-1);
  return (
    <section class="spending" aria-label="Last 30 days">
      <div class="by-day">
        <h2>
          Last 30 days <b>{cost ?? 'nothing known'}</b>
          {today === undefined || today.cost === null ? null : <span class="dim">today {today.cost}</span>}
          {isCut ? <span class="notice">of the newest 20,000 sessions</span> : null}
        </h2>
        <Days days={days} chosen={place.day} onChoose={(day) => onChange({ day })} />
      </div>
      <Shares
        title="By project"
        shares={projects}
        chosen={place.project}
        nameOf={projectName}
        onChoose={(project) => onChange({ project })}
      />
      <Shares
        title="By model"
        shares={models}
        chosen={place.model}
        nameOf={(name) => name}
        onChoose={(model) => onChange({ model })}
      />
    </section>
  );
}

interface DaysProps {
  readonly days: readonly SpentDay[];
  readonly chosen: string | undefined;
  onChoose(day: string | undefined): void;
}

/** A bar of the cost and one of the sessions for each day. */
function Days({ days, chosen, onChoose }: DaysProps) {
  const mostCost = Math.max(...days.map(({ costUsd }) => costUsd));
  const mostSessions = Math.max(...days.map(({ sessions }) => sessions));
  const part = (value: number, most: number) => `${most === 0 ? 0 : (value / most) * 100}%`;
  const focused = chosen ?? days.at(-1)?.day;
  return (
    <fieldset class="days" aria-label="Cost and sessions by day">
      {days.map(({ day, start, sessions, cost, costUsd }) => {
        const date = new Date(start);
        const name = date.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
        const words = `${name}: ${cost ?? 'no cost'}, ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
        return (
          <button
            key={day}
            type="button"
            class={date.getDay() === 0 || date.getDay() === 6 ? 'weekend' : ''}
            aria-pressed={day === chosen}
            aria-label={words}
            title={words}
            tabIndex={day === focused ? 0 : -1}
            onClick={() => onChoose(day === chosen ? undefined : day)}
            onKeyDown={onDayKey}
          >
            <span class="bar">
              <i style={{ height: part(costUsd, mostCost) }} />
            </span>
            <span class="bar sessions">
              <i style={{ height: part(sessions, mostSessions) }} />
            </span>
            <small>
              {date.getDay() === 1
                ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
                : ''}
            </small>
          </button>
        );
      })}
    </fieldset>
  );
}

/** The arrows go from day to day. */
function onDayKey(event: KeyboardEvent): void {
  const { key, currentTarget } = event;
  if (!(currentTarget instanceof HTMLElement) || !/^Arrow(?:Left|Right)$/.test(key)) return;
  const next = key === 'ArrowLeft' ? currentTarget.previousElementSibling : currentTarget.nextElementSibling;
  if (next instanceof HTMLElement) next.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface SharesProps {
  readonly title: string;
  readonly shares: readonly SpentShare[];
  readonly chosen: string | undefined;
  nameOf(name: string): string;
  onChoose(name: string | undefined): void;
}

/** A bar for each project or model. */
function Shares({ title, shares, chosen, nameOf, onChoose }: SharesProps) {
  const isPriced = shares.some(({ costUsd }) => costUsd > 0);
  const sizeOf = ({ costUsd, tokens }: SpentShare) => (isPriced ? costUsd : tokens);
  const most = Math.max(...shares.map(sizeOf));
  return (
    <div class="shares">
      <h2>{title}</h2>
      {shares.length === 0 ? <p class="dim">nothing in these days</p> : null}
      {shares.slice(0, 5).map((share) => {
        const { name, cost, tokens, sessions } = share;
        return (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen}
            title={`${name}: ${cost ?? 'no cost'}, ${formatTokens(tokens)} tokens, ${countText(sessions)} sessions`}
            onClick={() => onChoose(name === chosen ? undefined : name)}
          >
            <i style={{ width: `${most === 0 ? 0 : (sizeOf(share) / most) * 100}%` }} />
            <span>{nameOf(name)}</span>
            <b>{cost ?? `${formatTokens(tokens)} tokens`}</b>
          </button>
        );
      })}
    </div>
  );
}
