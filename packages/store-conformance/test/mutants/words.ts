import type { CapturedEvent, JsonValue } from '@hansard/provider';
import { EventWords } from '@hansard/provider';
import type { Change, Mutant } from './mutant.ts';

function textsOf(value: JsonValue | undefined, leftOut: readonly string[], found: string[] = []): string[] {
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const item of value) textsOf(item, leftOut, found);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value))
      if (!leftOut.includes(key)) textsOf(item as JsonValue, leftOut, found);
  return found;
}

const bytes = ['signature', 'replay', 'base64', 'encoded'];
const inWord = '[\\p{L}\\p{N}\\p{M}\\p{Co}]';

/** A store that finds other events: those for which the test holds. */
const finding =
  (isFound: (event: CapturedEvent, query: string, isRight: boolean) => boolean): Change =>
  (good, world) => ({
    searchEvents: (query, options = {}) => {
      good.searchEvents(query, options);
      const { taskDir, dispatchId, limit = 100 } = options;
      const words = new EventWords(query);
      const hits = [];
      for (const [task, dispatches] of world.data.dispatches)
        for (const [id, { events }] of dispatches)
          for (const [position, event] of events.entries())
            if (
              (taskDir === undefined || task === taskDir) &&
              (dispatchId === undefined || id === dispatchId) &&
              isFound(event, query, words.areIn(event))
            )
              hits.push({ taskDir: task, dispatchId: id, position, event: structuredClone(event) });
      const time = ({ event }: { event: CapturedEvent }) => event.timestamp ?? '';
      return hits
        .sort((one, other) => (time(one) < time(other) ? -1 : time(one) > time(other) ? 1 : 0))
        .slice(-limit);
    },
  });

/** A store that changes the query, and with it what it finds. */
const asking =
  (change: (query: string) => string): Change =>
  (good) => ({
    searchEvents: (query, options) => good.searchEvents(change(query), options),
  });

/** A store that finds only the right events for which the test holds, too. */
const missing = (isMissed: (texts: readonly string[], query: string) => boolean): Change =>
  finding((event, query, isRight) => isRight && !isMissed(textsOf(event.data, bytes), query));

/** A store that finds wrong events beside the right ones. */
const more = (isMore: (texts: readonly string[], query: string, event: CapturedEvent) => boolean): Change =>
  finding(
    (event, query, isRight) =>
      isRight || (query.trim() !== '' && isMore(textsOf(event.data, bytes), query, event)),
  );

function withoutLists(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutLists(item as JsonValue)]),
  );
}

const folded = (text: string) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
const wordsOf = (text: string): string[] => [...(text.match(new RegExp(`${inWord}+`, 'gu')) ?? [])];

/** Stores that do not find what the rule of searches says. */
export const wordMutants: readonly Mutant[] = [
  [
    'keeps accents apart',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        !texts.some((text) =>
          wordsOf(query).every((word) =>
            text.toLowerCase().normalize('NFC').includes(word.toLowerCase().normalize('NFC')),
          ),
        ),
    ),
  ],
  [
    'keeps the composed form of a letter from the decomposed one',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        folded(query) !== query.toLowerCase() &&
        !texts.some((text) => text.toLowerCase().includes(query.toLowerCase())),
    ),
  ],
  [
    'keeps case apart',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        !texts.some((text) => wordsOf(query).every((word) => text.includes(word) || /[^\0-\x7f]/.test(word))),
    ),
  ],
  [
    'keeps case apart beyond ASCII',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        /[^\0-\x7f]/.test(query) &&
        query !== query.toLowerCase() &&
        !texts.some((text) => text.includes(query)),
    ),
  ],
  [
    'finds the beginning of a word',
    'search/words-of-every-language',
    more((texts, query) =>
      texts.some((text) => wordsOf(text).some((word) => folded(word).startsWith(folded(query)))),
    ),
  ],
  [
    'finds any part of a word',
    'search/words-of-every-language',
    more((texts, query) => texts.some((text) => folded(text).includes(folded(query)))),
  ],
  [
    'finds the stem of a word',
    'search/words-of-every-language',
    more((texts, query) =>
      texts.some((text) => wordsOf(text).some((word) => folded(word) === `${folded(query)}s`)),
    ),
  ],
  [
    'takes an underscore for a part of a word',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        texts.every(
          (text) =>
            !new RegExp(
              `(?<![\\p{L}\\p{N}_])${query.replace(/[^\p{L}\p{N}]/gu, '.')}(?![\\p{L}\\p{N}_])`,
              'iu',
            ).test(text),
        ) && texts.some((text) => text.includes('_')),
    ),
  ],
  [
    'takes a hyphen for a part of a word',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        !query.includes('-') &&
        texts.some((text) => wordsOf(text.replaceAll('-', '')).length < wordsOf(text).length) &&
        texts.every((text) => !text.split(/[^\p{L}\p{N}-]/u).includes(query)),
    ),
  ],
  [
    'takes an apostrophe for a part of a word',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        texts.some((text) => /\p{L}'\p{L}/u.test(text)) &&
        texts.every((text) => !text.split(/[^\p{L}\p{N}']/u).includes(query)),
    ),
  ],
  [
    'takes a dot for a part of a word',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        !query.includes('.') &&
        texts.some((text) => /[\p{L}\p{N}]\.[\p{L}\p{N}]/u.test(text)) &&
        texts.every((text) => !text.split(/[^\p{L}\p{N}.]/u).includes(query)),
    ),
  ],
  [
    'leaves out words of one letter',
    'search/words-of-every-language',
    asking((query) =>
      wordsOf(query)
        .filter((word) => word.length > 1 || /[^\0-\x7f]/.test(word))
        .join(' '),
    ),
  ],
  [
    'leaves out frequent words of a query',
    'search/words-of-every-language',
    asking((query) => query.replace(/\b(?:the|a|of|and|is|not|to)\b/gi, ' ')),
  ],
  [
    'cuts words at 40 characters',
    'search/words-of-every-language',
    more(
      (texts, query) =>
        [...query].length > 40 &&
        texts.some((text) =>
          wordsOf(text).some((word) => folded(word).slice(0, 40) === folded(query).slice(0, 40)),
        ),
    ),
  ],
  [
    'has no words above 64 characters',
    'search/words-of-every-language',
    missing((_, query) => wordsOf(query).some((word) => word.length > 64)),
  ],
  [
    'finds any word of a query',
    'search/words-of-every-language',
    more((texts, query) =>
      wordsOf(query).some((one) => texts.some((text) => wordsOf(text).map(folded).includes(folded(one)))),
    ),
  ],
  [
    'wants the words of a query in one text',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        wordsOf(query).length > 1 &&
        !texts.some((text) => wordsOf(query).every((word) => folded(text).includes(folded(word)))),
    ),
  ],
  [
    'wants the words of a query in their order',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        wordsOf(query).length > 1 && !folded(texts.join(' ')).includes(wordsOf(query).map(folded).join(' ')),
    ),
  ],
  [
    'takes a run of Chinese for one word',
    'search/words-of-every-language',
    missing(
      (texts, query) => /\p{Script=Han}/u.test(query) && !texts.some((text) => wordsOf(text).includes(query)),
    ),
  ],
  [
    'finds single Chinese characters only',
    'search/words-of-every-language',
    more(
      (texts, query) =>
        /\p{Script=Han}{2}/u.test(query) &&
        texts.some((text) => [...query].every((one) => text.includes(one))),
    ),
  ],
  [
    'finds no single Chinese character',
    'search/words-of-every-language',
    missing((_, query) => /^\p{Script=Han}$/u.test(query)),
  ],
  [
    'takes Thai for words with spaces',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        /\p{Script=Thai}/u.test(query) && !texts.some((text) => wordsOf(text).includes(query)),
    ),
  ],
  [
    'takes Lao, Khmer and Burmese for words with spaces',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        /\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u.test(query) &&
        !texts.some((text) => wordsOf(text).includes(query)),
    ),
  ],
  [
    'splits Korean into characters',
    'search/words-of-every-language',
    more((texts, query) => /\p{Script=Hangul}/u.test(query) && texts.some((text) => text.includes(query))),
  ],
  [
    'does not split words where the script changes',
    'search/words-of-every-language',
    missing(
      (texts, query) =>
        texts.some((text) => /(?:[a-z][^\0-\x7f]|[^\0-\x7f][a-z])/iu.test(text)) &&
        !texts.some((text) => wordsOf(text).includes(query)),
    ),
  ],
  [
    'takes a final sigma for another letter',
    'search/words-of-every-language',
    missing((texts, query) => /[σς]/.test(query) && !texts.some((text) => text.includes(query))),
  ],
  [
    'takes ß for ss',
    'search/words-of-every-language',
    more((texts, query) =>
      texts.some((text) =>
        wordsOf(text.replaceAll('ß', 'ss'))
          .map(folded)
          .includes(folded(query.replaceAll('ß', 'ss'))),
      ),
    ),
  ],
  [
    'takes ø for o',
    'search/words-of-every-language',
    more((texts, query) =>
      texts.some((text) =>
        wordsOf(text.replaceAll('ø', 'o'))
          .map(folded)
          .includes(folded(query.replaceAll('ø', 'o'))),
      ),
    ),
  ],
  [
    'removes the vowel signs of Hindi',
    'search/words-of-every-language',
    more(
      (texts, query) =>
        /\p{Script=Devanagari}/u.test(query) &&
        texts.some((text) => wordsOf(text).map(folded).includes(folded(query))),
    ),
  ],
  [
    'searches in encoded bytes',
    'search/words-of-every-language',
    more(
      (texts, query, event) =>
        textsOf(event.data, []).some((text) => wordsOf(text).map(folded).includes(folded(query))) &&
        texts.length >= 0,
    ),
  ],
  [
    'searches in the names of keys',
    'search/words-of-every-language',
    more((_, query, event) => JSON.stringify(event.data).includes(`"${query}":`)),
  ],
  [
    'searches in ids and agents',
    'search/words-of-every-language',
    more((_, query, event) => [event.id, event.agentId, event.messageId, event.type].includes(query)),
  ],
  [
    'searches in numbers',
    'search/words-of-every-language',
    more((_, query, event) =>
      new RegExp(`:${query.replace(/\D/g, '') || 'x'}[,}]`).test(JSON.stringify(event.data)),
    ),
  ],
  [
    'does not search in lists',
    'search/words-of-every-language',
    finding(
      (event, query, isRight) =>
        isRight &&
        new EventWords(query).areIn({ ...event, data: withoutLists(event.data) as CapturedEvent['data'] }),
    ),
  ],
];
