import type { TableRow } from './name-table.ts';

/** A random text with names in known places. The hidden text is put together beside the text, not made from it. */
export interface PlantedText extends TableRow {
  readonly planted: number;
}

type Pick = <T>(from: readonly T[]) => T;

/** First names as pairs: as written, and with the letters of ASCII. No word of the fillers is near to them. */
const firsts = [
  ['Bjørn', 'Bjorn'],
  ['Łukasz', 'Lukasz'],
  ['Zoë', 'Zoe'],
  ['José', 'Jose'],
  ['Siobhán', 'Siobhan'],
  ['Jürgen', 'Jurgen'],
  ['Ægir', 'Aegir'],
  ['Þorvald', 'Thorvald'],
  ['Çiğdem', 'Cigdem'],
  ['Katarína', 'Katarina'],
  ['Ольга', 'Ольга'],
  ['Ngozi', 'Ngozi'],
  ['Anne-Marie', 'AnneMarie'],
] as const;
const lasts = [
  ['Ødegård', 'Odegard'],
  ['Groß', 'Gross'],
  ['Müller', 'Muller'],
  ['Nowaková', 'Nowakova'],
  ["O'Rourke", 'ORourke'],
  ["D'Alembert", 'DAlembert'],
  ['Quisling', 'Quisling'],
  ['Vučković', 'Vuckovic'],
  ['Xanthopoulos', 'Xanthopoulos'],
] as const;
/** Names that are common words, each with two sentences in which the word does not stand for a person. */
const wordNames = [
  ['Will', 'The wolves will come.', 'Will you stay?'],
  ['Mark', 'You mark my words.', 'Mark my words.'],
  ['May', 'They may come back.', 'May we begin?'],
  ['Rose', 'The sun rose early.', 'Rose from the ashes, it did.'],
  ['Hope', 'We hope for the best.', 'Hope is not lost.'],
  ['Bill', 'Pay the bill today.', 'Bill it to me.'],
  ['Chase', 'Wolves chase sheep.', 'Chase the wolf!'],
] as const;
const fillers =
  `the wolves came at night and nobody heard them | we should wait until the morning | it was a calm evening |
  three votes are enough | who was near the well? | that makes no sense, honestly | 10 gold pieces went missing |
  nothing happened (again) | the vote is a tie; repeat it | "perhaps" is not an answer`
    .split('|')
    .map((text) => text.trim());
const named = [
  'I think % knows more',
  'my vote goes to %',
  'it was % at the well',
  'ask % about the night',
  'nobody but % saw it',
];

/** The same numbers give the same text. */
export function plantText(random: () => number): PlantedText {
  const pick: Pick = (from) => from[Math.floor(random() * from.length)] as never;
  const [first, other] = takeTwo(firsts, random);
  const [last] = takeTwo(lasts, random);
  const [word, plainWord, startWord] = pick(wordNames);
  const full = `${first[0]} ${last[0]}`;
  const number = 1 + Math.floor(random() * 40);
  const seat = `Player ${number}: ${pick(['teal', 'mauve', 'ochre'])}`;
  const cast = {
    [full]: { ids: [`agent_${String(number).padStart(3, '0')}`] },
    [other[0]]: {},
    [word]: {},
    [seat]: {},
  };
  const pieces: [string, string][] = [];
  let planted = 0;
  for (let at = 0; at < 12; at += 1) {
    const kind = Math.floor(random() * 8);
    if (kind === 0) pieces.push([plainWord, plainWord]);
    else if (kind === 1) pieces.push([startWord, startWord]);
    else if (kind === 2) pieces.push([`${pick(fillers)}.`, '']);
    else {
      const [owner, spelled, tail] = spelling();
      const sentence = `${pick(named)}${pick(['.', '!', '?', ', right?'])}`;
      planted += 1;
      pieces.push([
        sentence.replace('%', () => spelled + tail),
        sentence.replace('%', () => `<${owner}>${tail}`),
      ]);
    }
  }
  const text = pieces.map(([piece]) => piece).join(' ');
  const hidden = pieces.map(([piece, replaced]) => (replaced === '' ? piece : replaced)).join(' ');
  return { cast, text, hidden, planted };

  /** Whose name it is, one way to write it, and what follows it. */
  function spelling(): readonly [owner: string, spelled: string, tail: string] {
    const tail = pick(['', '', "'s", '’s']);
    const kind = Math.floor(random() * 9);
    if (kind === 0) return [word, word, tail];
    if (kind === 1)
      return [
        seat,
        pick([`Player ${number}`, `player_${number}`, `PLAYER-${number}`, `Player${number}`, seat]),
        tail,
      ];
    if (kind === 2)
      return [full, pick([`agent_${String(number).padStart(3, '0')}`, `Agent ${number}`]), tail];
    if (kind === 3) return [other[0], disguise(pick(other), pick), tail];
    if (kind === 4) return [full, disguise(pick(last), pick), tail];
    if (kind === 5) return [full, disguise(pick(first), pick), tail];
    if (kind === 6) return [full, pick(['Dr. ', 'Mrs ', 'Prof. ']) + pick(last), tail];
    if (kind === 7) return [full, `${[...first[0]][0]}. ${last[0]}`, tail];
    const space = pick([' ', '-', '_', '\u00a0', '\n', ' \u2013 ', '']);
    return [
      full,
      disguise(pick(first), pick) + (space === '' ? ' ' : space) + disguise(pick(last), pick),
      tail,
    ];
  }
}

function takeTwo<T>(from: readonly T[], random: () => number): [T, T] {
  const at = Math.floor(random() * from.length);
  const other = (at + 1 + Math.floor(random() * (from.length - 1))) % from.length;
  return [from[at] as T, from[other] as T];
}

/** Another case, encoding, width, apostrophe or hyphen. */
function disguise(name: string, pick: Pick): string {
  return pick([
    (text: string) => text,
    (text: string) => text.toLowerCase(),
    (text: string) => text.toUpperCase(),
    (text: string) => text.normalize('NFD'),
    (text: string) => text.replaceAll("'", '’'),
    (text: string) => text.replaceAll("'", ''),
    (text: string) => text.replaceAll('-', ' '),
    (text: string) => text.replaceAll('-', '\u2011'),
    (text: string) => `${text.slice(0, 2)}\u200d${text.slice(2)}`,
    (text: string) =>
      text.replace(/[a-z]/g, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)),
  ])(name);
}
