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
}

/** Splits what agents write by rules. The time is linear in the text. */
export function createTextSplitter(rules: PartRules): (text: string) => SplitText {
  const rest = rules.rest ?? 'thinking';
  if (rules.fields !== undefined) return (text) => new FieldSplit(rules.fields ?? {}, rest).split(text);
  if (rules.sections !== undefined) return sectionSplitter(rules.sections, rest);
  const tags = new TagNames(rules.tags ?? {});
  return (text) => new TagSplit(tags, rest, text).split();
}

class Split implements SplitText {
  readonly parts: TextPart[] = [];
  readonly faults: PartFault[] = [];

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
  readonly start: number;
  readonly attributes: string;
  readonly pieces: string[];
  /** Where its first piece begins. */
  first: number | null;
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
  readonly #split = new Split();
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
    if (this.#demoted > 0) this.#split.add('thinking', text.slice(0, this.#demoted), 0);
    if (this.#split.parts.length > 1) this.#split.parts.sort((one, other) => one.start - other.start);
    return this.#split;
  }

  #isTooDeep(name: string): SplitText {
    this.#split.parts.splice(0);
    this.#split.fault('unreadable', name);
    this.#split.add('thinking', this.#text, 0);
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
      start: at,
      attributes: '',
      pieces: [],
      first: null,
      depth: 0,
    });
  }

  /** Adds the text before a place to the open part. */
  #write(to: number): void {
    if (to > this.#at) {
      this.#top.pieces.push(this.#text.slice(this.#at, to));
      this.#top.first ??= this.#at;
    }
    this.#at = to;
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
    this.#stack.push({ name, role, attributes, start: end, pieces: [], first: null, depth: 1 });
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
    const { name, role, pieces, start, attributes } = this.#stack.pop() as Frame;
    addPart(this.#split, role === 'unnamed' ? 'thinking' : role, name, {
      text: joined(pieces),
      start,
      fields: attributesIn(attributes),
    });
  }

  /** Ends a part without its end. */
  #abandon(): void {
    const { name, role, pieces, start, attributes } = this.#stack.pop() as Frame;
    const text = joined(pieces);
    const isMark = isAction(role) && text.trim() === '';
    if (isAction(role))
      addPart(this.#split, role, name, { text: '', start, fields: attributesIn(attributes) });
    if (role !== 'unnamed' && !isMark) this.#split.fault('unclosed', name);
    this.#split.add('thinking', text, start);
  }

  /** Writes the text outside every part: speech as one, thoughts each at its place. */
  #flush(end: number): void {
    const [root] = this.#stack;
    if (root === undefined || (this.#rest === 'chat' && end < this.#text.length)) return;
    this.#split.add(this.#rest, joined(root.pieces), root.first ?? end);
    root.pieces.length = 0;
    root.first = null;
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

function joined(pieces: readonly string[]): string {
  return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
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
  readonly #split = new Split();

  constructor(fields: Readonly<Record<string, PartRole>>, rest: 'thinking' | 'chat') {
    this.#fields = new Map(Object.entries(fields));
    this.#rest = rest;
  }

  split(text: string): SplitText {
    const start = text.indexOf('{');
    const end = text.lastIndexOf('}') + 1;
    const value = start < 0 ? null : parsed(text.slice(start, end));
    if (value === null || isDeep(value)) return this.#whole(text, 'unreadable', '');
    const twice = [...this.#fields.keys()].find((key) => isTwice(text.slice(start, end), key, value));
    if (twice !== undefined) return this.#whole(text, 'doubled', twice);
    for (const [key, item] of Object.entries(value)) this.#take(key, item ?? null, start);
    for (const around of [text.slice(0, start), text.slice(end)]) {
      const plain = around.replaceAll('```json', '').replaceAll('```', '');
      this.#split.add(this.#rest, plain, around === text.slice(0, start) ? 0 : end);
    }
    return this.#split;
  }

  #whole(text: string, kind: PartFault['kind'], name: string): SplitText {
    this.#split.fault(kind, name);
    this.#split.add('thinking', text, 0);
    return this.#split;
  }

  #take(key: string, value: JsonValue, start: number): void {
    const role = this.#fields.get(key);
    if (value === null || value === '') return;
    if (role === undefined) {
      this.#split.fault('unnamed', key);
      this.#split.add('thinking', textOf(value), start);
    } else if (Array.isArray(value) && (role === 'chat' || isWhisper(role)))
      for (const item of value) this.#take(key, item, start);
    else if (isWhisper(role) && role !== 'whisper') this.#takeWhisper(role, value, start);
    else if (isAction(role)) {
      const fields = isPlainObject(value) ? (value as JsonObject) : {};
      addPart(this.#split, role, key, { text: isPlainObject(value) ? '' : textOf(value), start, fields });
    } else if (role === 'chat' || role === 'whisper' || role === 'text')
      this.#takeSpeech(role, key, value, start);
    else this.#split.add('thinking', textOf(value), start);
  }

  #takeSpeech(role: 'chat' | 'whisper' | 'text', key: string, value: JsonValue, start: number): void {
    const isSpeech = typeof value === 'string' && !isMarked(value) && parsed(value) === null;
    if (!isSpeech) this.#split.fault('nested', key);
    const kind = !isSpeech ? 'thinking' : role === 'text' ? this.#rest : role;
    this.#split.add(kind, textOf(value), start);
  }

  #takeWhisper(
    { to, message = 'message' }: { to: string; message?: string | undefined },
    value: JsonValue,
    start: number,
  ): void {
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
    this.#split.add('whisper', textOf((text as JsonValue) ?? ''), start, { to: names });
  }
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
    const split = new Split();
    let open: { role: PartRole; name: string; to: string[] } = { role: rest, name: '', to: [] };
    let start = 0;
    const close = (end: number) => {
      const said = text.slice(start, end).trim();
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
        start = at + found.length;
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
