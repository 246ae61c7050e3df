/** The parts of a mapping, as they are written. */
export interface CheckedParts {
  readonly tags?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly sections?: Readonly<Record<string, unknown>>;
  readonly rest?: string;
}

/** What a text says to all, and why it is not certain. */
export interface CheckedText {
  readonly said: readonly string[];
  readonly whispered: readonly string[];
  /** Whether it names an action. */
  readonly acts: boolean;
  /** Tags, keys and headings that the mapping does not name. */
  readonly unnamed: readonly string[];
}

/** Reads a text by the parts of a mapping. */
export function readParts(text: string, parts: CheckedParts): CheckedText {
  if (parts.fields !== undefined) return readObject(text, parts.fields, parts.rest === 'chat');
  if (parts.sections !== undefined) return readSections(text, parts.sections, parts.rest === 'chat');
  return readTags(text, parts.tags ?? {}, parts.rest === 'chat');
}

/** The names of the tags in a text that are not `text` in the mapping. */
export function tagsIn(text: string, { tags = {} }: CheckedParts = {}): string[] {
  const plain = new Set(namesOf(tags, (role) => role === 'text'));
  return [...text.matchAll(/<\/?([^\s<>\d=/-][^<>]{0,200})>/gu)].flatMap(([, inner = '']) => {
    const [name = ''] = inner.split(/[\s/]/u, 1);
    return plain.has(fold(name)) ? [] : name;
  });
}

type Role = 'said' | 'whispered' | 'acted' | 'private' | 'unnamed';

function roleOf(role: unknown): Role {
  if (role === 'chat') return 'said';
  if (role === undefined) return 'unnamed';
  if (role === 'whisper' || (typeof role === 'object' && role !== null && 'to' in role)) return 'whispered';
  return role === 'action' || typeof role === 'object' ? 'acted' : 'private';
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function namesOf(roles: Readonly<Record<string, unknown>>, isWanted: (role: unknown) => boolean): string[] {
  return Object.entries(roles).flatMap(([name, role]) => (isWanted(role) ? fold(name) : []));
}

interface Mark {
  readonly name: string;
  readonly role: Role;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  readonly at: number;
  readonly after: number;
}

/** One element: the text of its own, and what it holds. */
interface Element {
  readonly name: string;
  readonly role: Role;
  own: string;
  inner: Element[];
}

function readTags(text: string, tags: Readonly<Record<string, unknown>>, isRestSaid: boolean): CheckedText {
  const roles = new Map(Object.entries(tags).map(([name, role]) => [fold(name), role]));
  const unnamed: string[] = [];
  const marks: Mark[] = [];
  let limit = text.length;
  for (const found of text.matchAll(/<(\/?)(\s*)([^\s<>/]*)([^<>]*)(>?)/gu)) {
    const [whole, slash = '', space = '', word = '', rest = '', close] = found;
    const name = fold(word);
    const given = roles.get(name);
    const looksSo = space === '' && word !== '' && (slash === '/' || !/^[\d=-]/u.test(word));
    if (given === 'text' || (given === undefined && !looksSo)) continue;
    if (close !== '>') {
      // Of a tag that is cut off, nothing that follows is certain.
      if (given !== undefined) limit = Math.min(limit, found.index);
      continue;
    }
    const role = given === undefined ? 'unnamed' : roleOf(given);
    if (role === 'unnamed') unnamed.push(word);
    const isEmpty = slash === '' && (rest.endsWith('/') || word.endsWith('/'));
    marks.push({
      name,
      role,
      isEnd: slash === '/',
      isEmpty,
      at: found.index,
      after: found.index + whole.length,
    });
  }
  const tree = treeOf(
    text,
    marks.filter(({ at }) => at < limit),
    limit,
    isRestSaid,
  );
  const all = flat(tree);
  const own = (role: Role) =>
    all.flatMap((one) => (one.role === role && one.own.trim() !== '' ? one.own : []));
  return {
    said: own('said'),
    whispered: own('whispered'),
    acts: all.some(({ role }) => role === 'acted'),
    unnamed: [...new Set(unnamed)],
  };
}

/** The elements of a text. What is not certain has no element, or one that is private. */
function treeOf(text: string, marks: readonly Mark[], limit: number, isRestSaid: boolean): Element {
  const newRoot = (): Element => ({ name: '', role: isRestSaid ? 'said' : 'private', own: '', inner: [] });
  let root = newRoot();
  let path: [Element, ...Element[]] = [root];
  const names = new Map<string, number>();
  let [from, depth] = [0, 0];
  const top = () => path.at(-1) as Element;
  const leave = (role: Role) => {
    const element = path.pop() as Element;
    names.set(element.name, (names.get(element.name) ?? 1) - 1);
    top().inner.push({ ...element, role: element.role === 'acted' && role === 'private' ? 'acted' : role });
  };
  const goTo = (at: number, after: number) => {
    top().own += text.slice(from, at);
    from = after;
  };
  for (const mark of marks) {
    const { name, role, isEnd, isEmpty, at, after } = mark;
    if (top().role === 'unnamed' && isEnd && name !== top().name && (names.get(name) ?? 0) > 0) {
      goTo(at, at);
      leave('private');
    }
    const around = top();
    const isClosed = around.role === 'unnamed' || (around.role === 'private' && around.name !== '');
    const isFree = around.role === 'said' || around.name === '';
    if (isClosed && name !== around.name) continue;
    if (isClosed && !isEnd) depth += isEmpty ? 0 : 1;
    else if (isClosed && depth > 1) depth -= 1;
    else if (isEnd && name === around.name) {
      goTo(at, after);
      leave(around.role);
    } else if (isEnd && isFree && (names.get(name) ?? 0) > 0) {
      goTo(at, after);
      while (top().name !== name) leave('private');
      leave(top().role);
    } else if (isEnd && isFree) {
      root = newRoot();
      path = [root];
      names.clear();
      from = after;
    } else if (!isEnd && (isFree || role === 'private' || role === 'unnamed' || role === 'whispered')) {
      goTo(at, after);
      path.push({ name, role, own: '', inner: [] });
      names.set(name, (names.get(name) ?? 0) + 1);
      depth = 1;
      if (isEmpty) leave(role);
    }
  }
  if (limit === text.length) goTo(limit, limit);
  else for (const element of path) element.own = '';
  while (path.length > 1) leave('private');
  return root;
}

function flat(root: Element): Element[] {
  const found: Element[] = [];
  const left = [root];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    found.push(one);
    left.push(...one.inner);
  }
  return found;
}

function readObject(
  text: string,
  fields: Readonly<Record<string, unknown>>,
  isRestSaid: boolean,
): CheckedText {
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}') + 1];
  const around = isRestSaid && start >= 0 ? [text.slice(0, start), text.slice(end)] : [];
  const nothing = { said: [], whispered: [], acts: false, unnamed: [] };
  let value: Readonly<Record<string, unknown>>;
  try {
    value = JSON.parse(text.slice(Math.max(start, 0), end));
  } catch {
    return nothing;
  }
  const isTwice = Object.keys(fields).some((key) => text.split(`${JSON.stringify(key)}:`).length > 2);
  if (typeof value !== 'object' || isTwice) return nothing;
  const textsOf = (role: Role) =>
    Object.entries(value).flatMap(([key, item]) => (roleOf(fields[key]) === role ? stringsIn(item) : []));
  return {
    said: [...textsOf('said').filter((one) => !/^\s*\{/.test(one) && tagsIn(one).length === 0), ...around],
    whispered: textsOf('whispered'),
    acts: Object.keys(value).some((key) => roleOf(fields[key]) === 'acted'),
    unnamed: Object.keys(value).filter((key) => fields[key] === undefined),
  };
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((one) => (typeof one === 'string' ? one : []));
}

function readSections(
  text: string,
  sections: Readonly<Record<string, unknown>>,
  isRestSaid: boolean,
): CheckedText {
  const found: { role: Role; lines: string[] }[] = [{ role: isRestSaid ? 'said' : 'private', lines: [] }];
  const unnamed: string[] = [];
  const patterns = Object.entries(sections).map(([name, role]) => {
    const [before = '', after] = fold(name).split('*');
    return { before, after, role };
  });
  for (const line of text.split('\n')) {
    const start = line.slice(0, 200).trimStart();
    const [, hashed, bold, label] =
      /^(?:#+\s*([^#].*)|\*\*([^*]+)\*\*(?=:|\s*$)|(?=\p{L}|\p{Extended_Pictographic})([^:]+):(?=\s|$))/u.exec(
        start,
      ) ?? [];
    const bolder = /^\*\*([^*]+):\*\*/u.exec(start)?.[1];
    const heading = (hashed ?? bold ?? bolder ?? label)?.replace(/:$/, '').trim();
    if (heading === undefined || (hashed === undefined && heading.split(/\s+/).length > 6)) {
      found.at(-1)?.lines.push(line);
      continue;
    }
    const folded = fold(heading);
    const named = patterns.find(({ before, after }) =>
      after === undefined ? folded === before : folded.startsWith(before) && folded.endsWith(after),
    );
    if (named?.role === 'text') found.at(-1)?.lines.push(line);
    else {
      if (named === undefined) unnamed.push(heading);
      found.push({ role: roleOf(named?.role), lines: hashed === undefined ? [line] : [] });
    }
  }
  const own = (role: Role) => found.flatMap((one) => (one.role === role ? one.lines.join('\n') : []));
  return {
    said: own('said'),
    whispered: own('whispered'),
    acts: found.some(({ role }) => role === 'acted'),
    unnamed: [...new Set(unnamed)],
  };
}
