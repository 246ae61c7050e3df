import { isMassNoun, months } from './common-words.ts';
import { fold } from './fold.ts';
import type { SpellingForm } from './spellings.ts';

/** A match in a text, before it is known to be a name. */
export interface Occurrence {
  readonly source: string;
  readonly from: number;
  readonly to: number;
  /** The index where the titles before it begin; `from` if there are none. */
  readonly titled: number;
  /** Whether it is the whole text. */
  readonly isWhole: boolean;
}

const reach = 48;

/** Whether a match is written as its form requires. */
export function hasForm(form: SpellingForm, occurrence: Occurrence): boolean {
  const { source, from, to } = occurrence;
  const found = source.slice(from, to);
  switch (form) {
    case 'any':
      return true;
    case 'caps':
      return found === found.toUpperCase();
    case 'initials':
      return isInitials(found, source.charAt(to));
    case 'capitals':
      return (
        isMarked(occurrence) ||
        (found.match(/(?<![\p{L}'’])\p{Ll}+/gu) ?? []).every((word) => word.length < 4)
      );
    case 'marked':
      return isMarked(occurrence);
    case 'name':
      return isMarked(occurrence) || isWrittenAsName(occurrence);
  }
}

/** Each initial is a capital, followed by a full stop or, if it is not the word `A` or `I`, by nothing. */
function isInitials(found: string, next: string): boolean {
  const words = found.split(/[\s_\p{Pd}]+|(?<=\.)/u).filter((word) => word !== '');
  if (words.some((word) => !/^\p{Lu}/u.test(word))) return false;
  const initials = words.filter((word) => /^\p{Lu}\.?$/u.test(word));
  const dotted = (word: string, at: number) =>
    word.endsWith('.') || (at === words.length - 1 && next === '.');
  if (initials.length === 0) return false;
  const all = words.length === initials.length;
  return words.every((word, at) => {
    if (!initials.includes(word)) return true;
    return dotted(word, at) || (all ? at === words.length - 1 && at > 0 : !/^[AI]$/.test(word));
  });
}

/** The whole text, a label at the start of a line (`will: …`), a mention (`@will`), or a word after a title. */
function isMarked({ source, from, to, titled, isWhole }: Occurrence): boolean {
  if (isWhole || titled < from) return true;
  const before = source.slice(Math.max(0, from - reach), from);
  const after = source.slice(to, to + reach);
  if (/@$/.test(before)) return true;
  const startsLine = /(?:^|\n)[\s*_>#-]{0,8}$/.test(before) && (from < reach || before.includes('\n'));
  return startsLine && /^[*_]{0,3}:(?!\S)/.test(after);
}

const articles = new Set(
  `a an the this these those my your his its our their no any some every each whose
  der die das den dem des ein eine einen einem einer le la les un une el los las il lo uma um`.split(/\s+/),
);
const subjects = new Set('i we they he she'.split(' '));

/** Verbs of people, and verbs of people and things. */
const peopleVerbs = `says said claims claimed thinks thought wants wanted knows knew lies lied lying votes voted accuses accused acts acted
  asks asked defends defended suspects suspected believes believed saw sees killed kills protected
  investigated pushes pushed agrees agreed tries tried wrote writes speaks spoke answered replied whispered admitted
  deserves who whom hates hated likes liked trusts trusted plays played argued argues hid hides blamed blames`;
const allVerbs = `is was has had does did isn't wasn't hasn't hadn't doesn't didn't seems seemed looks looked keeps kept dies died wins won lost
  makes made takes took goes went gets got gives gave can could would should must might cannot can't couldn't won't
  wouldn't shouldn't needs needed feels felt sounds sounded`;
const verbs = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const [verbsOfPeople, verbsOfAll] = [verbs(peopleVerbs), verbs(`${peopleVerbs} ${allVerbs}`)];

/** What people are, and hope and art are not. */
const stateOfPerson =
  /^\s(?:is|was|has been|had been|isn['’]t|wasn['’]t|seems|looks)\s(?:(?:not|also|probably|clearly|definitely|really|very|so|too|now|still|being|a|an|the|our|my|another)\s){0,3}(?:killed|lynched|executed|eliminated|hanged|dead|alive|lying|innocent|guilty|suspicious|quiet|evil|wolf|werewolf|villager|seer|doctor|mafia|player|liar|suspect|target|threat|right|wrong|sure|here|silent|nervous|defensive)(?![\p{L}\p{N}])/u;

/**
 * A word that is also a common word is a name if it has a capital letter and
 * - is followed by `'s`, or stands on a line alone;
 * - or is at the start of a sentence, and a comma, a verb in the third person or `and NAME` follows;
 * - or is within a sentence, not after an article or `I`, `we`, `they`, `he`, `she`, and not the month of a date.
 */
function isWrittenAsName({ source, from, to }: Occurrence): boolean {
  const found = source.slice(from, to);
  if (!/^\p{Lu}/u.test(found)) return false;
  if ([...found].length > 1 && found === found.toUpperCase() && /\p{Lu}/u.test(found.slice(1))) return false;
  const before = source.slice(Math.max(0, from - reach), from);
  const after = source.slice(to, to + reach);
  const word = fold(found).folded;
  if (months.has(word) && isDate(before, after)) return false;
  if (startsSentence(before)) return isUsedAsName(word, after);
  const previous = /(?<![\p{L}\p{N}])(\p{L}+)\s+$/u.exec(before)?.[1]?.toLowerCase() ?? '';
  return !articles.has(previous) && !subjects.has(previous);
}

function isDate(before: string, after: string): boolean {
  return (
    /(?:\b(?:in|since|until|during|early|mid|late|last|next|every)|\d(?:st|nd|rd|th)?(?: of)?)[\s-]+$/i.test(
      before,
    ) || /^,?\s\d/.test(after)
  );
}

/** After nothing, the end of a sentence, a colon, or anything but a word or a comma: quotes, brackets, bullets. */
export function startsSentence(before: string): boolean {
  return !/[\p{L}\p{N},'’)\]%][\t ]*$|[\p{L}\p{N},] ?[&+/] ?$/u.test(before);
}

function isUsedAsName(word: string, after: string): boolean {
  if (/^['’][sS](?![\p{L}\p{N}])/u.test(after)) return true;
  if (/^[*_)\]"'”’]*[.!?]*\s*(?:\n|$)/.test(after)) return true;
  if (/^\s(?:and|or|&)\s\p{Lu}/u.test(after)) return true;
  if (/^,\s/.test(after))
    return (
      !isMassNoun(word) ||
      /^,\s(?:\p{Lu}|you|your|we|why|what|how|who|where|do|did|are|can|could|please)/u.test(after)
    );
  const verb = /^\s+(\p{L}+(?:['’]t)?)(?![\p{L}\p{N}])/u.exec(after)?.[1] ?? '';
  const folded = verb.replace('’', "'");
  if (!isMassNoun(word)) return verbsOfAll.has(folded);
  return verbsOfPeople.has(folded) || stateOfPerson.test(after);
}
