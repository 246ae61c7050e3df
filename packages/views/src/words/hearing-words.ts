import type { CapturedEvent } from '@hansard/events';
import type { HearingCell } from '../causes/hearing-matrix.ts';
import type { KnowledgeStep, NeverHeardRow } from '../knowledge/known-by.ts';
import type { Fate, HowHeard, Saying } from '../log/saying.ts';
import type { Tone } from '../rows/row.ts';
import type { WordSpan } from './words.ts';

/** Who heard what, in words. No other file words it. */

/** The name of a dispatched agent that has none. */
export const dispatchedAgent = 'dispatched agent';

/** The most names of agents that did not hear something. */
const mostNames = 4;

/** Of something said: its author went back behind it, or an engine took it back. Those that heard it still have it. */
export const takenBackWords: Readonly<Record<Fate, string>> = {
  abandoned: 'later taken back by its author',
  retracted: "later taken back by its author's engine",
};

/** A line for each reason, with the positions of what was taken back. */
export function takenBackLines(
  said: readonly { readonly position: number; readonly fate?: Fate }[],
): string[] {
  return (['abandoned', 'retracted'] as const).flatMap((fate) => {
    const places = said.filter((one) => one.fate === fate).map(({ position }) => position);
    return places.length === 0 ? [] : [`${takenBackWords[fate]}: ${places.join(', ')}`];
  });
}

/** The same for what agents heard and no longer have: each position with the names of those agents. */
export function lostHearingLines(
  said: readonly Pick<Saying, 'position' | 'hearings'>[],
  nameOf: (agentId: string) => string,
): string[] {
  return (['abandoned', 'retracted'] as const).flatMap((fate) => {
    const places = said.flatMap(({ position, hearings }) => {
      const kept = new Set(hearings.flatMap((one) => (one.fate === undefined ? one.agentId : [])));
      const lost = hearings.filter((one) => one.fate === fate && !kept.has(one.agentId));
      const names = [...new Set(lost.map(({ agentId }) => nameOf(agentId)))];
      return names.length === 0 ? [] : [`${position} by ${names.join(' and ')}`];
    });
    return places.length === 0 ? [] : [`heard, ${fateWords[fate]}: ${places.join(', ')}`];
  });
}

/** Of something that an agent received or did, and that its later prompts do not have. */
export const fateWords: Readonly<Record<Fate, string>> = {
  abandoned: 'on an abandoned branch',
  retracted: 'retracted',
};

/** A line for each receiver of which the log has no transcript, with the positions of what was sent to it. */
export function sentElsewhereLines(
  sayings: readonly Pick<Saying, 'position' | 'sentTo'>[],
  isAgent: (agentId: string) => boolean,
): string[] {
  const elsewhere = sayings.filter(({ sentTo }) => sentTo !== undefined && !isAgent(sentTo));
  return [...Map.groupBy(elsewhere, ({ sentTo }) => sentTo)].map(
    ([name, some]) =>
      `sent to ${name}, which has no transcript here: ${some.map(({ position }) => position).join(', ')}`,
  );
}

/** Of a message that an agent sent to another one. That it arrived is not recorded. */
export function sentToWords(name: string): string {
  return `sent to ${name}`;
}

const said = /^agent:(?:text|thinking|tool_call|piece_of_text)$/;

/** The same of an event of either kind. */
export function eventFateWords({ type }: CapturedEvent, fate: Fate): string {
  return (said.test(type) ? takenBackWords : fateWords)[fate];
}

/** A delivery of what was said, for its words. */
export interface HeardWords {
  readonly name: string;
  readonly how: HowHeard;
  readonly position?: number;
  /** The event that altered or withheld it. */
  readonly via?: string | undefined;
  /** Why the agent no longer has it. */
  readonly fate?: Fate | undefined;
}

/** Who did not hear it, for its words. */
export interface AudienceWords {
  readonly heard: readonly HeardWords[];
  /** The names of those that did not, and of those of which it is not known. */
  readonly missing: readonly string[];
  readonly notKnown: readonly string[];
}

/** A clause about who heard something. An altered one has its delivery. */
export interface HearingClause<Heard extends HeardWords> {
  readonly spans: readonly WordSpan[];
  readonly delivery: Heard | null;
  readonly tone: Tone;
}

/**
 * The clauses about who heard something: those that did, in its words or in wrapped ones; each that heard it altered; each that it was withheld
 * from; those that did not hear it; those of which it is not known.
 */
export function hearingClauses<Heard extends HeardWords>({
  heard,
  missing,
  notKnown,
}: Omit<AudienceWords, 'heard'> & { readonly heard: readonly Heard[] }): HearingClause<Heard>[] {
  const plain = heard.filter(({ how }) => how === 'same' || how === 'wrapped');
  const names = plain.map(({ name, how, position, fate }) => {
    const notes = [...(how === 'same' ? [] : [how]), ...(fate === undefined ? [] : [fateWords[fate]])];
    return spanOf(notes.length === 0 ? name : `${name} (${notes.join(', ')})`, position);
  });
  const apart = heard.filter((one) => !plain.includes(one));
  const withheld = new Set(apart.flatMap(({ how, name }) => (how === 'withheld' ? [name] : [])));
  // Of a text that nobody heard, nobody is missing.
  const others = heard.length === withheld.size ? [] : missing.filter((name) => !withheld.has(name));
  const unknown = notKnown.filter((name) => !withheld.has(name));
  return [
    ...(plain.length === 0 ? [] : [clause([text('heard by'), ...separated(names)], 'dim')]),
    ...apart.map((one) => ({ spans: apartSpans(one), delivery: one, tone: 'notice' as const })),
    ...(others.length === 0 ? [] : [clause([text(`not heard by ${someOf(others)}`)], 'notice')]),
    ...(unknown.length === 0 ? [] : [clause([text(`not known of ${someOf(unknown)}`)], 'dim')]),
  ];
}

function clause(spans: readonly WordSpan[], tone: Tone): HearingClause<never> {
  return { spans, delivery: null, tone };
}

/** The clauses as one line. */
export function hearingSpans(clauses: readonly HearingClause<HeardWords>[]): WordSpan[] {
  return clauses.flatMap(({ spans }, at) => {
    const last = spans.at(-1);
    if (at === clauses.length - 1 || last === undefined) return spans;
    return spans.with(-1, { ...last, text: `${last.text};` });
  });
}

/** What begins a text that an agent received in other words. */
export function receivedLabel(name: string): string {
  return `${name} received`;
}

/** A note about how an agent heard a text. '' where nothing was changed. */
export function alteredNote(how: HowHeard | null): string {
  return how === 'altered' ? '(altered)' : '';
}

function apartSpans({ name, how, position, via, fate }: HeardWords): WordSpan[] {
  const later = fate === undefined ? '' : `, ${fateWords[fate]}`;
  const by = `${via === undefined ? '' : ` (via ${via})`}${later}`;
  return how === 'withheld'
    ? [text('withheld from'), spanOf(`${name}${by}`, position)]
    : [text('heard by'), spanOf(`${name}, altered${by}`, position)];
}

function someOf(names: readonly string[]): string {
  return names.length > mostNames ? `${names.length} others` : names.join(', ');
}

function separated(spans: readonly WordSpan[]): WordSpan[] {
  return spans.map((span, at) => (at === spans.length - 1 ? span : { ...span, text: `${span.text},` }));
}

function spanOf(words: string, position: number | undefined): WordSpan {
  return position === undefined ? text(words) : { label: 'text', text: words, position };
}

function text(words: string): WordSpan {
  return { label: 'text', text: words };
}

/** Each way once, with its count if there are several; `·`: never; `?`: not known. */
export function cellInWords(cell: HearingCell = [], isNotKnown = false): string {
  const ways = [...new Set(cell)].map((way) => {
    const count = cell.filter((other) => other === way).length;
    return count === 1 ? way : `${way} ×${count}`;
  });
  return ways.join(', ') || (isNotKnown ? '?' : '·');
}

/** What an agent did on the path of a message. */
export const stepWords: Readonly<Record<KnowledgeStep['how'], string>> = {
  said: 'said it',
  created: 'created the agent with it',
  passed: 'passed it on',
  returned: 'returned it',
  observed: 'observed it',
  same: 'heard it',
  wrapped: 'heard it wrapped',
  altered: 'heard it altered',
  withheld: 'had it withheld',
};

/** Of an agent that never heard something, or of which it is not known. */
export function neverHeardWords({ answer, withheldBy, sameWordsIn }: NeverHeardRow): string {
  const hint = sameWordsIn === null ? '' : `; perhaps by ${sameWordsIn}, which has the same words`;
  const unknown = answer === 'not known' ? ` (not known${hint})` : '';
  return `${withheldBy === null ? '' : ` (withheld via ${withheldBy})`}${unknown}`;
}

/** Where nobody is named: nothing reached anybody, or everybody heard it. */
export const nobodyHeardIt = '(it reached nobody)';
export const everybodyHeardIt = '(every agent heard it)';

/** How a delivery reached an agent, for a note beside its names: `altered via e16`. */
export function deliveryNote({ how, via }: Pick<HeardWords, 'how' | 'via'>): string {
  return via === undefined ? how : `${how} via ${via}`;
}

/** The marks of a drawing of who heard what: of who said it, and of each way of hearing it, from the left and from the right. */
export const saidMark = '●';
export const unknownMark = '?';
export const flowMarks: Readonly<Record<HowHeard, string>> = {
  same: '▶◀',
  wrapped: '▶◀',
  altered: '≠',
  withheld: '✗',
};

export const flowMeanings: readonly (readonly [marks: string, meaning: string])[] = [
  [saidMark, 'said it'],
  [flowMarks.same, 'heard it'],
  [flowMarks.altered, 'heard other words'],
  [flowMarks.withheld, 'withheld'],
  [unknownMark, 'not known'],
];

export const notKnownWhoHeardIt = 'not known who heard it';
