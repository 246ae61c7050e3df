import type { JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';

/**
 * What a part of a text is: speech to all; a thought; an action, by its name in capitals; a whisper; or text that belongs to what is around it,
 * such as `b` for bold words. `to`: the attribute, or the field of the value, that names the receivers of a whisper, and `message` the field of its text.
 */
type PartRole =
  | 'chat'
  | 'thinking'
  | 'action'
  | 'whisper'
  | 'text'
  | { readonly to: string; readonly message?: string | undefined }
  | { readonly action: string; readonly payload?: Readonly<Record<string, string>> | undefined };

/** How agents write several things in one text: in one of three forms. What is not named is a thought, and a fault. */
export interface PartRules {
  /** Tags such as `<speak>`, ignoring case. */
  readonly tags?: Readonly<Record<string, PartRole>> | undefined;
  /** The keys of a JSON object. */
  readonly fields?: Readonly<Record<string, PartRole>> | undefined;
  /** Headings: `## Speech`, `**Speech:**` or `Speech:`. A `*` in a name stands for the receivers of a whisper. */
  readonly sections?: Readonly<Record<string, PartRole>> | undefined;
  /** The text outside every part. Absent: thoughts. */
  readonly rest?: 'thinking' | 'chat' | undefined;
}

export interface TextPart {
  readonly kind: 'chat' | 'thinking' | 'whisper' | 'action';
  readonly text: string;
  /** Where it begins, in UTF-16 code units of the whole text. */
  readonly start: number;
  /** The receivers of a whisper, as far as the text names them. */
  readonly to: readonly string[];
  /** Of an action: its type and all that it says. */
  readonly action: { readonly type: string; readonly payload: JsonObject } | null;
}

/**
 * Why a text can't be split with certainty. `unnamed`: a tag, key or heading that the rules do not name. `unclosed`, `unmatched`: a tag without its
 * end or its beginning. `unreadable`: not the JSON or the tag that it should be. `doubled`: a key twice. `nested`: speech that is itself a JSON object or has tags.
 * What is concerned is a thought.
 */
interface PartFault {
  readonly kind: 'unnamed' | 'unclosed' | 'unmatched' | 'unreadable' | 'doubled' | 'nested';
  readonly name: string;
}

export interface SplitText {
  /** In the order of the text. */
  readonly parts: readonly TextPart[];
  readonly faults: readonly PartFault[];
  /** The text in its form, such as its tags, without the thoughts and what surrounds them. Empty: the text is nothing but thoughts. */
  readonly withoutThoughts: string;
}

/** Splits what agents write by rules. The time is linear in the text. */
export function createTextSplitter(rules: PartRules): (text: string) => SplitText {
  const rest = rules.rest ?? 'thinking';
  if (rules.fields !== undefined) return (text) => new FieldSplit(rules.fields ?? {}, rest, text).split(text);
  if (rules.sections !== undefined) return sectionSplitter(rules.sections, rest);
  const tags = new TagNames(rules.tags ?? {});
  return (text) => new TagSplit(tags, rest, text).split();
}

class Split implements SplitText {
  readonly parts: TextPart[] = [];
  readonly faults: PartFault[] = [];
  readonly #text: string;
  /** Where thoughts begin and end in the text, in pairs. */
  readonly #hidden: number[] = [];
  /** What stands for a part of the text from its place on, because the thoughts in it are left out. */
  readonly #instead = new Map<number, string>();

  constructor(text: string) {
    this.#text = text;
  }

  hide(start: number, end: number, instead = ''): void {
    this.#hidden.push(start, end);
    if (instead !== '') this.#instead.set(start, instead);
  }

  get withoutThoughts(): string {
    const ranges: [start: number, end: number][] = [];
    for (let at = 0; at < this.#hidden.length; at += 2)
      ranges.push([this.#hidden[at] ?? 0, this.#hidden[at + 1] ?? 0]);
    let [kept, at] = ['', 0];
    for (const [start, end] of ranges.sort(([one], [other]) => one - other)) {
      if (start > at) kept += this.#text.slice(at, start);
      kept += this.#instead.get(start) ?? '';
      at = Math.max(at, end);
    }
    return (kept + this.#text.slice(at)).trim();
  }

  add(kind: TextPart['kind'], text: string, start: number, more: Partial<TextPart> = {}): void {
    if (kind === 'action' || !isBlank(text))
      this.parts.push({ kind, text, start, to: [], action: null, ...more });
  }

  fault(kind: PartFault['kind'], name: string): void {
    if (this.faults.length < 1_000) this.faults.push({ kind, name: name.slice(0, 100) });
  }
}

/** A text with more parts in each other is a thought, so that the way to the outermost part is short. */
const mostOpen = 100;

interface Frame {
  readonly name: string;
  readonly role: PartRole | 'unnamed';
  /** Where its tag begins and ends. */
  readonly tag: number;
  readonly start: number;
  readonly attributes: string;
  /** Where its pieces of the text begin and end, in pairs. */
  readonly pieces: number[];
  depth: number;
}

interface Tag {
  readonly name: string;
  readonly role: PartRole | 'unnamed';
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  readonly attributes: string;
  readonly start: number;
  readonly end: number;
}

/**
 * One text with tags, in one pass:
 *
 * 1. Within a thought, and within a tag without a role, everything is text up to the end of the tag, counted with its own repetitions.
 * 2. Within a whisper or an action, thoughts, whispers and tags without a role begin parts of their own. Speech does not.
 * 3. A tag that never ends is a thought up to the end of what is around it.
 * 4. An end without a beginning makes everything before it a thought: the beginning was perhaps in the prompt.
 *
 * So nothing is speech unless each tag around it is whole and named. Code blocks protect nothing.
 */
class TagSplit {
  readonly #tags: TagNames;
  readonly #text: string;
  readonly #rest: 'thinking' | 'chat';
  readonly #split: Split;
  #stack: Frame[] = [];
  #at = 0;
  /** The end of what an end without a beginning makes a thought. */
  #demoted = 0;
  /** The next `>`, so that it is searched for once. */
  #nextEnd = -1;

  constructor(tags: TagNames, rest: 'thinking' | 'chat', text: string) {
    this.#tags = tags;
    this.#rest = rest;
    this.#text = text;
    this.#split = new Split(text);
    this.#reset(0);
  }

  split(): SplitText {
    const text = this.#text;
    for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
      const tag = this.#tagAt(at);
      if (tag === null || tag.role === 'text') continue;
      this.#take(tag);
      if (this.#stack.length > mostOpen) return this.#isTooDeep(tag.name);
      if (this.#at > at) at = this.#at - 1;
    }
    this.#write(text.length);
    while (this.#stack.length > 1) this.#abandon();
    this.#flush(text.length);
    if (this.#demoted > 0) {
      this.#split.add('thinking', text.slice(0, this.#demoted), 0);
      this.#split.hide(0, this.#demoted);
    }
    if (this.#split.parts.length > 1) this.#split.parts.sort((one, other) => one.start - other.start);
    return this.#split;
  }

  #isTooDeep(name: string): SplitText {
    this.#split.parts.splice(0);
    this.#split.fault('unreadable', name);
    this.#split.add('thinking', this.#text, 0);
    this.#split.hide(0, this.#text.length);
    return this.#split;
  }

  get #top(): Frame {
    return this.#stack.at(-1) as Frame;
  }

  #reset(at: number): void {
    this.#stack = [];
    this.#stack.push({
      name: '',
      role: this.#rest,
      tag: at,
      start: at,
      attributes: '',
      pieces: [],
      depth: 0,
    });
  }

  /** Adds the text before a place to the open part. */
  #write(to: number): void {
    if (to > this.#at) {
      const { pieces } = this.#top;
      if (pieces.at(-1) === this.#at) pieces[pieces.length - 1] = to;
      else pieces.push(this.#at, to);
    }
    this.#at = to;
  }

  #textOf(pieces: readonly number[]): string {
    let text = '';
    for (let at = 0; at < pieces.length; at += 2) text += this.#text.slice(pieces[at], pieces[at + 1]);
    return text;
  }

  #hide(pieces: readonly number[]): void {
    for (let at = 0; at < pieces.length; at += 2) this.#split.hide(pieces[at] ?? 0, pieces[at + 1] ?? 0);
  }

  #isOpen(name: string): boolean {
    for (let at = this.#stack.length - 1; at > 0; at -= 1) if (this.#stack[at]?.name === name) return true;
    return false;
  }

  #take(tag: Tag): void {
    if (this.#top.role === 'unnamed' && tag.isEnd && tag.name !== this.#top.name && this.#isOpen(tag.name)) {
      this.#write(tag.start);
      this.#abandon();
    }
    const { role, name } = this.#top;
    const isAround = role === 'chat' || name === '';
    const isPrivate = tag.role === 'thinking' || tag.role === 'unnamed' || isWhisper(tag.role);
    if (role === 'unnamed' || (role === 'thinking' && name !== '')) this.#within(tag);
    else if (!tag.isEnd && (isAround || isPrivate)) this.#begin(tag);
    else if (tag.isEnd && tag.name === name) this.#end(tag);
    else if (tag.isEnd && isAround) this.#endOther(tag);
  }

  /** Counts the repetitions of a tag within which everything is text. */
  #within(tag: Tag): void {
    const top = this.#top;
    if (tag.name !== top.name || (tag.isEmpty && !tag.isEnd)) return;
    top.depth += tag.isEnd ? -1 : 1;
    if (top.depth === 0) this.#end(tag);
  }

  #begin({ name, role, attributes, isEmpty, start, end }: Tag): void {
    this.#write(start);
    if (this.#stack.length === 1) this.#flush(start);
    if (role === 'unnamed') this.#split.fault('unnamed', name);
    this.#stack.push({ name, role, attributes, tag: start, start: end, pieces: [], depth: 1 });
    // A thought begins with the tag that nobody named.
    if (role === 'unnamed') this.#write(end);
    this.#at = end;
    if (isEmpty) this.#close();
  }

  #end({ start, end }: Tag): void {
    this.#write(start);
    this.#at = end;
    this.#close();
  }

  #endOther(tag: Tag): void {
    if (this.#isOpen(tag.name)) {
      this.#write(tag.start);
      while (this.#top.name !== tag.name) this.#abandon();
      this.#end(tag);
      return;
    }
    this.#split.fault(tag.role === 'unnamed' ? 'unnamed' : 'unmatched', tag.name);
    this.#split.parts.length = 0;
    this.#demoted = tag.end;
    this.#at = tag.end;
    this.#reset(tag.end);
  }

  /** Ends the open part. */
  #close(): void {
    const { name, role, pieces, tag, start, attributes } = this.#stack.pop() as Frame;
    if (role === 'unnamed' || role === 'thinking') this.#split.hide(tag, this.#at);
    addPart(this.#split, role === 'unnamed' ? 'thinking' : role, name, {
      text: this.#textOf(pieces),
      start,
      fields: attributesIn(attributes),
    });
  }

  /** Ends a part without its end. */
  #abandon(): void {
    const { name, role, pieces, tag, start, attributes } = this.#stack.pop() as Frame;
    const text = this.#textOf(pieces);
    const isMark = isAction(role) && text.trim() === '';
    if (isAction(role))
      addPart(this.#split, role, name, { text: '', start, fields: attributesIn(attributes) });
    if (role !== 'unnamed' && !isMark) this.#split.fault('unclosed', name);
    this.#split.add('thinking', text, start);
    if (!isAction(role)) this.#split.hide(tag, start);
    this.#hide(pieces);
  }

  /** Writes the text outside every part: speech as one, thoughts each at its place. */
  #flush(end: number): void {
    const [root] = this.#stack;
    if (root === undefined || (this.#rest === 'chat' && end < this.#text.length)) return;
    this.#split.add(this.#rest, this.#textOf(root.pieces), root.pieces[0] ?? end);
    if (this.#rest === 'thinking') this.#hide(root.pieces);
    root.pieces.length = 0;
  }

  #tagAt(start: number): Tag | null {
    const text = this.#text;
    const isEnd = text.charCodeAt(start + 1) === 47;
    if (isNoTag(text.charCodeAt(start + (isEnd ? 2 : 1)), isEnd)) return null;
    if (this.#nextEnd < start) {
      const found = text.indexOf('>', start);
      this.#nextEnd = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    const next = text.indexOf('<', start + 1);
    const isWhole = this.#nextEnd < (next < 0 ? Number.POSITIVE_INFINITY : next);
    const end = isWhole ? this.#nextEnd : next < 0 ? text.length : next;
    const { name, role, from, isTag } = this.#tags.headOf(text.slice(start + 1, Math.min(end, start + 200)));
    if (!isTag) return null;
    if (!isWhole) {
      this.#split.fault('unreadable', name);
      if (role === 'unnamed') return null;
    }
    return {
      name,
      role,
      isEnd: isEnd && isWhole,
      isEmpty: isWhole && text.charCodeAt(end - 1) === 47,
      attributes: from === 0 ? '' : text.slice(start + 1 + from, Math.min(end, start + 10_000)),
      start,
      end: isWhole ? end + 1 : start,
    };
  }
}

interface TagHead {
  /** Folded. */
  readonly name: string;
  readonly role: PartRole | 'unnamed';
  /** Where its attributes begin; 0: it has none. */
  readonly from: number;
  /** Whether it looks like a tag, unlike `<3` or `a < b`. */
  readonly isTag: boolean;
}

/** The tags of a mapping. What is written between `<` and `>` is read once for all texts. */
class TagNames {
  readonly #roles: ReadonlyMap<string, PartRole>;
  readonly #heads = new Map<string, TagHead>();

  constructor(tags: Readonly<Record<string, PartRole>>) {
    this.#roles = byName(tags);
  }

  /** `inner`: what follows `<`, up to 200 characters. */
  headOf(inner: string): TagHead {
    const known = this.#heads.get(inner);
    if (known !== undefined) return known;
    const head = this.#read(inner);
    if (this.#heads.size < 1_000) this.#heads.set(inner, head);
    return head;
  }

  #read(inner: string): TagHead {
    const [whole = '', slash = '', space = '', word = ''] = /^(\/?)(\s*)([^\s/]*)/u.exec(inner) ?? [];
    const name = foldedName(word);
    const role = this.#roles.get(name);
    const isTag =
      role !== undefined ||
      (space === '' &&
        (slash === '' ? /^(?:[\p{L}_!?|#@]|\p{Extended_Pictographic})/u.test(word) : word !== ''));
    return { name, role: role ?? 'unnamed', isTag, from: whole.length < inner.length ? whole.length : 0 };
  }
}

/** Whether no tag begins with this character after `<` or `</`: `<`, `>`, `=`, `-` and digits. */
function isNoTag(code: number, isEnd: boolean): boolean {
  return code === 60 || code === 62 || code === 61 || (!isEnd && (code === 45 || (code >= 48 && code <= 57)));
}

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return !(first > 32 && first < 127) && text.trim() === '';
}

function attributesIn(text: string): Record<string, string> {
  if (text === '') return {};
  const found = text.matchAll(
    /(?<![\p{L}\p{N}_-])([\p{L}\p{N}_-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))/gu,
  );
  return Object.fromEntries([...found].map(([, key = '', ...values]) => [key, values.find(Boolean) ?? '']));
}

/** An answer that is a JSON object, perhaps in a code block and with text around it. */
class FieldSplit {
  readonly #fields: ReadonlyMap<string, PartRole>;
  readonly #rest: 'thinking' | 'chat';
  readonly #split: Split;

  constructor(fields: Readonly<Record<string, PartRole>>, rest: 'thinking' | 'chat', text: string) {
    this.#fields = new Map(Object.entries(fields));
    this.#rest = rest;
    this.#split = new Split(text);
  }

  split(text: string): SplitText {
    const start = text.indexOf('{');
    const end = text.lastIndexOf('}') + 1;
    const value = start < 0 ? null : parsed(text.slice(start, end));
    if (value === null || isDeep(value)) return this.#whole(text, 'unreadable', '');
    const twice = [...this.#fields.keys()].find((key) => isTwice(text.slice(start, end), key, value));
    if (twice !== undefined) return this.#whole(text, 'doubled', twice);
    const entries = Object.entries(value);
    const said = entries.flatMap(([key, item]) => {
      const kept = this.#take(key, item ?? null, start);
      return kept === undefined ? [] : [[key, kept, kept === item] as const];
    });
    if (said.length < entries.length || said.some(([, , isSame]) => !isSame))
      this.#split.hide(start, end, inForm(said, text.slice(start, end)));
    const around = [text.slice(0, start), text.slice(end)].map((one) =>
      one.replaceAll('```json', '').replaceAll('```', ''),
    );
    around.forEach((plain, at) => {
      this.#split.add(this.#rest, plain, at === 0 ? 0 : end);
    });
    if (this.#rest === 'thinking' && (said.length === 0 || !around.every(isBlank))) {
      this.#split.hide(0, start);
      this.#split.hide(end, text.length);
    }
    return this.#split;
  }

  #whole(text: string, kind: PartFault['kind'], name: string): SplitText {
    this.#split.fault(kind, name);
    this.#split.add('thinking', text, 0);
    this.#split.hide(0, text.length);
    return this.#split;
  }

  /** A value without the thoughts in it; undefined: nothing remains. */
  #take(key: string, value: JsonValue, start: number): JsonValue | undefined {
    const role = this.#fields.get(key);
    if (value === null || value === '') return value;
    if (role === undefined) this.#split.fault('unnamed', key);
    else if (Array.isArray(value) && (role === 'chat' || isWhisper(role))) {
      const said = value
        .map((item) => this.#take(key, item, start))
        .filter((item): item is JsonValue => item !== undefined);
      const isSame = said.length === value.length && said.every((item, at) => item === value[at]);
      return said.length === 0 ? undefined : isSame ? value : said;
    } else if (isWhisper(role) && role !== 'whisper') return this.#takeWhisper(role, value, start);
    else if (isAction(role)) {
      const fields = isPlainObject(value) ? (value as JsonObject) : {};
      addPart(this.#split, role, key, { text: isPlainObject(value) ? '' : textOf(value), start, fields });
      return value;
    } else if (role === 'chat' || role === 'whisper' || role === 'text')
      return this.#takeSpeech(role, key, value, start);
    this.#split.add('thinking', textOf(value), start);
    return undefined;
  }

  #takeSpeech(
    role: 'chat' | 'whisper' | 'text',
    key: string,
    value: JsonValue,
    start: number,
  ): JsonValue | undefined {
    const isSpeech = typeof value === 'string' && !isMarked(value) && parsed(value) === null;
    if (!isSpeech) this.#split.fault('nested', key);
    const kind = !isSpeech ? 'thinking' : role === 'text' ? this.#rest : role;
    this.#split.add(kind, textOf(value), start);
    return kind === 'thinking' ? undefined : value;
  }

  #takeWhisper(
    { to, message = 'message' }: { to: string; message?: string | undefined },
    value: JsonValue,
    start: number,
  ): JsonValue | undefined {
    const {
      [to]: receivers,
      [message]: text,
      ...others
    } = isPlainObject(value) ? value : { [message]: value };
    for (const [name, other] of Object.entries(others)) {
      this.#split.fault('unnamed', name);
      this.#split.add('thinking', textOf(other as JsonValue), start);
    }
    const names = [receivers ?? []].flat().flatMap((name) => (typeof name === 'string' ? namesIn(name) : []));
    const said = textOf((text as JsonValue) ?? '');
    this.#split.add('whisper', said, start, { to: names });
    if (isBlank(said)) return undefined;
    return Object.keys(others).length === 0
      ? value
      : ({ [to]: receivers, [message]: text } as JsonObject as JsonValue);
  }
}

/** An object with some of its fields, on one line or on several as it was written. */
function inForm(fields: readonly (readonly [string, JsonValue, boolean])[], written: string): string {
  if (fields.length === 0) return '';
  const value = Object.fromEntries(fields.map(([key, item]) => [key, item]));
  return JSON.stringify(value, null, written.includes('\n') ? 2 : 0);
}

/** Whether a value has more levels than answers have. */
function isDeep(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > 100) return true;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? (Object.values(one) as JsonValue[]) : [],
    );
  }
  return false;
}

/** Whether a key of an object occurs twice in its text, of which only the last was parsed. */
function isTwice(text: string, key: string, value: JsonObject): boolean {
  const mark = `${JSON.stringify(key)}`;
  let count = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length))
    if (/^\s*:/.test(text.slice(at + mark.length, at + mark.length + 50))) count += 1;
  return count > 1 && count > countKeys(value, key);
}

function countKeys(value: JsonValue | undefined, key: string): number {
  let count = 0;
  const left: (JsonValue | undefined)[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== 'object' || one === null) continue;
    if (!Array.isArray(one) && Object.hasOwn(one, key)) count += 1;
    left.push(...Object.values(one));
  }
  return count;
}

/** The heading of a line, and where the text after it begins. Null: it has none. */
function headingOf(line: string): { readonly heading: string; readonly length: number } | null {
  const text = line.trimStart();
  const indent = line.length - text.length;
  if (text.startsWith('#')) {
    const heading = text.replace(/^#+/, '').trim().replace(/:$/, '');
    return heading === '' ? null : { heading, length: line.length };
  }
  const isBold = text.startsWith('**');
  const end = isBold ? text.indexOf('**', 2) : text.indexOf(':');
  const heading = end < 0 ? '' : text.slice(isBold ? 2 : 0, end).trim();
  if (!/^[\p{L}\p{Extended_Pictographic}]/u.test(heading) || heading.split(/\s+/).length > 6) return null;
  const after = text.slice(end + (isBold ? 2 : 1));
  const colon = isBold && after.startsWith(':') ? 1 : 0;
  const isWhole = isBold
    ? colon > 0 || heading.endsWith(':') || after.trim() === ''
    : /^(?:\s|$)/.test(after);
  if (!isWhole) return null;
  return { heading: heading.replace(/:$/, ''), length: indent + end + (isBold ? 2 : 1) + colon };
}

function sectionSplitter(
  sections: Readonly<Record<string, PartRole>>,
  rest: 'thinking' | 'chat',
): (text: string) => SplitText {
  const named = byName(sections);
  return (text) => {
    const split = new Split(text);
    let open: { role: PartRole; name: string; to: string[] } = { role: rest, name: '', to: [] };
    let [heading, start] = [0, 0];
    const close = (end: number) => {
      const said = text.slice(start, end).trim();
      if (open.role !== 'chat' && !isWhisper(open.role) && !isAction(open.role)) split.hide(heading, end);
      if (open.name !== '' || said !== '')
        addPart(split, open.role, open.name, { text: said, start, fields: {}, to: open.to });
    };
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      const found = headingOf(text.slice(at, Math.min(end, at + 200)));
      const section = found === null ? null : sectionOf(named, found.heading);
      if (found !== null && section?.role !== 'text') {
        close(at);
        if (section === null) split.fault('unnamed', found.heading);
        open = { name: found.heading, role: section?.role ?? 'thinking', to: section?.to ?? [] };
        [heading, start] = [at, at + found.length];
      }
      at = end + 1;
    }
    close(text.length);
    return split;
  };
}

function sectionOf(
  named: ReadonlyMap<string, PartRole>,
  heading: string,
): { readonly role: PartRole; readonly to: string[] } | null {
  const folded = foldedName(heading);
  const exact = named.get(folded);
  if (exact !== undefined) return { role: exact, to: [] };
  for (const [name, role] of named) {
    const [before = '', after] = name.split('*');
    if (after === undefined || folded.length <= name.length - 1) continue;
    if (folded.startsWith(before) && folded.endsWith(after))
      return { role, to: namesIn(heading.slice(before.length, heading.length - after.length)) };
  }
  return null;
}

function addPart(
  split: Split,
  role: PartRole,
  name: string,
  { text, start, fields, to }: { text: string; start: number; fields: JsonObject; to?: string[] },
): void {
  if (isAction(role)) {
    const type = typeof role === 'object' && 'action' in role ? role.action : name.toUpperCase();
    split.add('action', text, start, {
      action: { type, payload: { ...fields, ...(text !== '' && { text }) } },
    });
  } else if (isWhisper(role)) {
    const named = typeof role === 'object' && 'to' in role ? fields[role.to] : undefined;
    split.add('whisper', text, start, { to: to ?? (typeof named === 'string' ? namesIn(named) : []) });
  } else split.add(role === 'chat' ? 'chat' : 'thinking', text, start);
}

function isWhisper(role: PartRole | 'unnamed'): role is 'whisper' | { to: string; message?: string } {
  return role === 'whisper' || (typeof role === 'object' && 'to' in role);
}

function isAction(
  role: PartRole | 'unnamed',
): role is 'action' | { action: string; payload?: Readonly<Record<string, string>> } {
  return role === 'action' || (typeof role === 'object' && 'action' in role);
}

function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

/** Whether a text has a tag. */
function isMarked(text: string): boolean {
  return /<\/?[^\s<>\d=-][^<>]{0,200}>/u.test(text);
}

function parsed(text: string): JsonObject | null {
  if (!/^\s*\{/.test(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function byName(roles: Readonly<Record<string, PartRole>>): ReadonlyMap<string, PartRole> {
  return new Map(Object.entries(roles).map(([name, role]) => [foldedName(name), role]));
}
