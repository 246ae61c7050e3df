import type { NameLanguageId } from '../../../src/judging/names/languages.ts';

/** The players of a row: names, each with what the mapping says about it. */
export type Cast = Readonly<Record<string, CastMember>>;

export interface CastMember {
  readonly ids?: readonly string[];
  readonly aliases?: readonly string[];
  readonly parts?: readonly string[];
  readonly initials?: readonly string[];
}

export interface TableRow {
  readonly cast: Cast;
  readonly text: string;
  /** The text with `<NAME>` in the place of each name, and `<?>` where several players have it. */
  readonly hidden: string;
  readonly rules?: {
    readonly titles?: readonly string[];
    readonly inflections?: Readonly<Record<string, readonly string[]>>;
    readonly words?: readonly string[];
    readonly languages?: readonly NameLanguageId[];
    readonly nicknames?: boolean;
  };
}

const castOf = (...names: string[]): Cast => Object.fromEntries(names.map((name) => [name, {}]));
const rowsOf = (
  cast: Cast,
  rows: readonly (readonly [string, string])[],
  rules?: TableRow['rules'],
): TableRow[] =>
  rows.map(([text, hidden]) => ({ cast, text, hidden, ...(rules === undefined ? {} : { rules }) }));

const ann = castOf('Ann Lee', 'Benedikt');
const irish = castOf("Siobhán O'Brien", 'Jean-Luc Picard');
const north = castOf('Bjørn Ødegård', 'Łukasz', 'Weiß', 'Ægir', 'Müller');
const chess = castOf('Player 1: black', 'Player 2: white', 'Player 10: green');
const common = castOf('Will', 'Mark', 'May', 'Rose', 'Art', 'Bill');
const ids: Cast = { Ann: { ids: ['agent_001'] }, Cy: { ids: ['agent_010'] } };
const people = castOf('Robert Stone', 'Katherine', 'Alexander', 'William', 'Christopher');
const given: Cast = {
  'Alexander Stone': { aliases: ['Sasha', 'the Count'], parts: ['Alexander'], initials: ['AS'] },
  Ewa: { aliases: ['Ewunia'] },
};

export const nameTable: readonly TableRow[] = [
  ...rowsOf(ann, [
    ['Ann Lee lies.', '<Ann Lee> lies.'],
    ['ann lee lies', '<Ann Lee> lies'],
    ['ANN-LEE and ann_lee', '<Ann Lee> and <Ann Lee>'],
    ['AnnLee said so', '<Ann Lee> said so'],
    ['Ann\u00a0Lee, Ann\nLee', '<Ann Lee>, <Ann Lee>'],
    ['ann.lee@work', '<Ann Lee>@work'],
    ['Ann voted for Benedikt.', '<Ann Lee> voted for <Benedikt>.'],
    ['I trust ann.', 'I trust <Ann Lee>.'],
    ["Lee's vote, Lee’s vote", "<Ann Lee>'s vote, <Ann Lee>’s vote"],
    ['Anns vote, Benedikts vote', '<Ann Lee>s vote, <Benedikt>s vote'],
    ['A. Lee and Ann L. agree', '<Ann Lee> and <Ann Lee> agree'],
    ['AL is not A.L, ALee is not A Lee', 'AL is not <Ann Lee>, ALee is not A <Ann Lee>'],
    ['A.L. agrees', '<Ann Lee> agrees'],
    ['Ann B. Lee agrees', '<Ann Lee> agrees'],
    ['Ms Lee, Dr. Lee and Prof. Ann Lee', '<Ann Lee>, <Ann Lee> and <Ann Lee>'],
    ['Miss Lee left, I miss Lee', '<Ann Lee> left, I miss <Ann Lee>'],
    ['A\u200bnn, Ａｎｎ and 𝐀𝐧𝐧', '<Ann Lee>, <Ann Lee> and <Ann Lee>'],
    ['Annual planning annoys Annette; sleep, flee', 'Annual planning annoys Annette; sleep, flee'],
    ['A. Lincoln, an L. and a lee shore', 'A. Lincoln, an L. and a <Ann Lee> shore'],
    ['It was Ann. I think so.', 'It was <Ann Lee>. I think so.'],
    ['@ann #lee "Ann"', '@<Ann Lee> #<Ann Lee> "<Ann Lee>"'],
    ['**Ann**: hi, (Ann)', '**<Ann Lee>**: hi, (<Ann Lee>)'],
  ]),
  ...rowsOf(irish, [
    ["O'Brien, O’Brien and OBrien", "<Siobhán O'Brien>, <Siobhán O'Brien> and <Siobhán O'Brien>"],
    ['o brien, O`Brien, Oʼbrien', "<Siobhán O'Brien>, <Siobhán O'Brien>, <Siobhán O'Brien>"],
    ['Siobhan said it', "<Siobhán O'Brien> said it"],
    ['SIOBHA\u0301N O’BRIEN', "<Siobhán O'Brien>"],
    ["O'Briens vote and O’Brien’s", "<Siobhán O'Brien>s vote and <Siobhán O'Brien>’s"],
    ['Jean Luc, Jean‑Luc, jeanluc', '<Jean-Luc Picard>, <Jean-Luc Picard>, <Jean-Luc Picard>'],
    ['Captain Picard spoke', '<Jean-Luc Picard> spoke'],
    ['J.-L. Picard and J. Picard', '<Jean-Luc Picard> and <Jean-Luc Picard>'],
    ['Oh Brien? o dear', 'Oh Brien? o dear'],
  ]),
  ...rowsOf(north, [
    ['Bjorn is here', '<Bjørn Ødegård> is here'],
    ['Bjoern Oedegaard is here', '<Bjørn Ødegård> is here'],
    ['BJØRN ØDEGÅRD', '<Bjørn Ødegård>'],
    ['Odegard, odegård', '<Bjørn Ødegård>, <Bjørn Ødegård>'],
    ['Lukasz, lukasz, ŁUKASZ', '<Łukasz>, <Łukasz>, <Łukasz>'],
    ['Weiss, WEISS and weiß', '<Weiß>, <Weiß> and <Weiß>'],
    ['Aegir, ægir', '<Ægir>, <Ægir>'],
    ['Muller, Mueller, MÜLLER', '<Müller>, <Müller>, <Müller>'],
    ['B. Ødegård', '<Bjørn Ødegård>'],
    ['Born to be wise, a mull', 'Born to be wise, a mull'],
  ]),
  ...rowsOf(chess, [
    ['Player 1: black', '<Player 1: black>'],
    ['Player 1 moves', '<Player 1: black> moves'],
    ['player_1, PLAYER1, Player-1', '<Player 1: black>, <Player 1: black>, <Player 1: black>'],
    ['Player #1 and player one', '<Player 1: black> and <Player 1: black>'],
    ['Player 10 and Player 100', '<Player 10: green> and Player 100'],
    ['Player 01', '<Player 1: black>'],
    ['every player has 1 black stone', 'every player has 1 black stone'],
    ['I think Black is ahead of White.', 'I think <Player 1: black> is ahead of <Player 2: white>.'],
    ['black', '<Player 1: black>'],
    ['player 2 said: player 1: black', '<Player 2: white> said: <Player 1: black>'],
  ]),
  ...rowsOf(common, [
    ['I will vote. You mark my words.', 'I will vote. You mark my words.'],
    ['I vote for Will.', 'I vote for <Will>.'],
    ['Will you vote? May I? Mark my words. Bill it.', 'Will you vote? May I? Mark my words. Bill it.'],
    ['Will is lying. Mark voted. May has gone.', '<Will> is lying. <Mark> voted. <May> has gone.'],
    ['Will, you lie. Mark and Rose know.', '<Will>, you lie. <Mark> and <Rose> know.'],
    ["Will's vote. Mark’s vote.", "<Will>'s vote. <Mark>’s vote."],
    ['will: I vote\nMARK: I do not', '<Will>: I vote\n<Mark>: I do not'],
    ['@will knows, @may too', '@<Will> knows, @<May> too'],
    ['will', '<Will>'],
    ['In May we met. We met in May 2026.', 'In May we met. We met in May 2026.'],
    ['I suspect May.', 'I suspect <May>.'],
    ['The Will of God, the Bill, a Rose', 'The Will of God, the Bill, a Rose'],
    ['I WILL vote, you MAY not', 'I WILL vote, you MAY not'],
    ['Art is long. Art voted early.', 'Art is long. <Art> voted early.'],
    ['Will Mark vote? May Bill?', 'Will <Mark> vote? May <Bill>?'],
    ['He said "Will you?" and "Mark this"', 'He said "Will you?" and "Mark this"'],
    ['Mr Will and Dr. Mark', '<Will> and <Mark>'],
    ['prices rose, the rose rose', 'prices rose, the rose rose'],
    ['- Rose\n- Bill', '- <Rose>\n- <Bill>'],
    [
      'Will\nBill.\nMay we go on? Nobody knows what comes next, or where.',
      '<Will>\n<Bill>.\nMay we go on? Nobody knows what comes next, or where.',
    ],
    ['It was Mark, Will or Bill.', 'It was <Mark>, <Will> or <Bill>.'],
    ['Marks were made; wills too; Bills', 'Marks were made; wills too; Bills'],
    ['I told you Will lied', 'I told you <Will> lied'],
    ['Will probably rain. Will never know.', 'Will probably rain. Will never know.'],
    ['Rose from the dead. Rose died.', 'Rose from the dead. <Rose> died.'],
  ]),
  ...rowsOf(castOf('Grace', 'Frank'), [
    ['Grace has been killed. Grace is needed.', '<Grace> has been killed. Grace is needed.'],
    ['I noticed that Frank was quiet.', 'I noticed that <Frank> was quiet.'],
    ['To be frank, say grace. Frank talk', 'To be frank, say grace. Frank talk'],
  ]),
  ...rowsOf(ids, [
    ['agent_001, Agent 1, agent-01', '<Ann>, <Ann>, <Ann>'],
    ['agent_010 and Agent 10', '<Cy> and <Cy>'],
    ['agent_011, agent 0100, agents', 'agent_011, agent 0100, agents'],
  ]),
  ...rowsOf(given, [
    ['Sasha and sasha', '<Alexander Stone> and <Alexander Stone>'],
    ['The count of votes; the Count spoke', 'The count of votes; <Alexander Stone> spoke'],
    ['Stone walls, a stone', 'Stone walls, a stone'],
    ['AS spoke as planned', '<Alexander Stone> spoke as planned'],
    ['Alexander spoke', '<Alexander Stone> spoke'],
    ['Ewunia spoke', '<Ewa> spoke'],
  ]),
  ...rowsOf(
    { Ewa: {}, Adam: {}, Mehmet: {} },
    [
      ['Głosuję na Ewę i Adama.', 'Głosuję na <Ewa> i <Adam>.'],
      ['Ewie, Ewy, Adamowi', '<Ewa>, <Ewa>, <Adam>'],
      ["Mehmet'in oyu, Mehmetin oyu", "<Mehmet>'in oyu, <Mehmet> oyu"],
      ['Ewald, Adamant', 'Ewald, Adamant'],
    ],
    { inflections: { '': ['a', 'owi', 'in'], a: ['ę', 'y', 'ie'] } },
  ),
  ...rowsOf(people, [
    ['Bob, Bobby and Rob', '<Robert Stone>, <Robert Stone> and <Robert Stone>'],
    ['I trust kate and Alex.', 'I trust <Katherine> and <Alexander>.'],
    ['Will voted. Will you vote? I will.', '<William> voted. Will you vote? I will.'],
    ['Chris and Kit lie, he has a kit', '<Christopher> and <?> lie, he has a kit'],
    ['The bill is paid, Bill says', 'The bill is paid, <William> says'],
    ['They rob us, bobsled', 'They rob us, bobsled'],
  ]),
  ...rowsOf(people, [['Bob saw Alex', 'Bob saw Alex']], { nicknames: false }),
  ...rowsOf(castOf('Robert', 'Bob'), [['Bob, Rob, Robert', '<Bob>, <Robert>, <Robert>']]),
  ...rowsOf(
    castOf('Анна', 'Борис', 'Дмитрий', 'Мария', 'Павел', 'Игорь'),
    [
      ['Я голосую против Анны и Бориса.', 'Я голосую против <Анна> и <Борис>.'],
      ['Скажи Анне и Дмитрию', 'Скажи <Анна> и <Дмитрий>'],
      ['С Марией, с Павлом, с Игорем', 'С <Мария>, с <Павел>, с <Игорь>'],
      ['Говорили о Павле и о Марии', 'Говорили о <Павел> и о <Мария>'],
      ['Анну видели у Игоря', '<Анна> видели у <Игорь>'],
      ['товарищ Борис и борисоглебский', '<Борис> и борисоглебский'],
    ],
    { languages: ['ru'] },
  ),
  ...rowsOf(
    castOf('Олена', 'Тарас', 'Андрій', 'Ольга', 'Петро'),
    [
      ['Я вірю Олені й Тарасові', 'Я вірю <Олена> й <Тарас>'],
      ['Андрію, бачили Ольгу з Петром', '<Андрій>, бачили <Ольга> з <Петро>'],
      ['пан Тарас сказав Ользі', '<Тарас> сказав <Ольга>'],
    ],
    { languages: ['uk'] },
  ),
  ...rowsOf(
    castOf('Marek', 'Katarzyna', 'Paweł', 'Piotr', 'Tomasz'),
    [
      ['Głosuję na Marka i Katarzynę', 'Głosuję na <Marek> i <Katarzyna>'],
      ['Z Pawłem o Piotrze, Tomaszowi', 'Z <Paweł> o <Piotr>, <Tomasz>'],
      ['Panu Markowi, Katarzynie, Pawle!', '<Marek>, <Katarzyna>, <Paweł>!'],
    ],
    { languages: ['pl'] },
  ),
  ...rowsOf(
    castOf('Petr', 'Jana', 'Marek', 'Tomáš', 'Lucie'),
    [
      ['Věřím Petrovi, ne Janě', 'Věřím <Petr>, ne <Jana>'],
      ['S Markem a Tomášem o Lucii', 'S <Marek> a <Tomáš> o <Lucie>'],
      ['Petře, viděl jsi Janu?', '<Petr>, viděl jsi <Jana>?'],
    ],
    { languages: ['cs'] },
  ),
  ...rowsOf(
    castOf('Matti', 'Liisa', 'Pekka', 'Virtanen', 'Antti'),
    [
      ['Äänestän Liisaa, en Mattia', 'Äänestän <Liisa>, en <Matti>'],
      ['Pekan ja Antin kanssa', '<Pekka> ja <Antti> kanssa'],
      ['Virtaselle, Matilla, Liisalta', '<Virtanen>, <Matti>, <Liisa>'],
    ],
    { languages: ['fi'] },
  ),
  ...rowsOf(
    castOf('Ayşe', 'Mehmet', 'Ali'),
    [
      ['Ayşeye güvenmem, Mehmetin oyu', '<Ayşe> güvenmem, <Mehmet> oyu'],
      ['Aliden, Mehmetle, Ayşenin', '<Ali>, <Mehmet>, <Ayşe>'],
      ["Ayşe'ye oy verdim", "<Ayşe>'ye oy verdim"],
    ],
    { languages: ['tr'] },
  ),
  ...rowsOf(
    castOf('Anna', 'Péter', 'Zoltán'),
    [
      ['Annának és Péternek, Zoltánnal', '<Anna> és <Péter>, <Zoltán>'],
      ['Zoltánra szavazok, Annát nem', '<Zoltán> szavazok, <Anna> nem'],
    ],
    { languages: ['hu'] },
  ),
  ...rowsOf(
    castOf('Γιώργος', 'Μαρία', 'Κώστας'),
    [['Ψηφίζω τον Γιώργο, της Μαρίας, του Κώστα', 'Ψηφίζω τον <Γιώργος>, της <Μαρία>, του <Κώστας>']],
    { languages: ['el'] },
  ),
  ...rowsOf(
    castOf('Jonas', 'Rūta', 'Tomas'),
    [['Balsuoju už Joną, Rūtos ir Tomui', 'Balsuoju už <Jonas>, <Rūta> ir <Tomas>']],
    { languages: ['lt'] },
  ),
  ...rowsOf(castOf('Ivan', 'Marija', 'Luka'), [['Ivanu i Mariji, s Lukom', '<Ivan> i <Marija>, s <Luka>']], {
    languages: ['hr'],
  }),
  ...rowsOf(
    castOf('أحمد', 'ليلى'),
    [
      ['أعطيت لأحمد وليلى صوتي', 'أعطيت <أحمد> <ليلى> صوتي'],
      ['قال أحمد', 'قال <أحمد>'],
    ],
    { languages: ['ar'] },
  ),
  ...rowsOf(
    castOf('דוד', 'שרה'),
    [
      ['הצבעתי לדוד ולשרה', 'הצבעתי <דוד> <שרה>'],
      ['ושרה אמרה', '<שרה> אמרה'],
    ],
    { languages: ['he'] },
  ),
  ...rowsOf(castOf('5号玩家', '15号玩家', '田中'), [
    ['我怀疑5号，15号是好人', '我怀疑<5号玩家>，<15号玩家>是好人'],
    ['5号玩家发言', '<5号玩家>发言'],
    ['田中さんと🐺田中🐺', '<田中>さんと🐺<田中>🐺'],
  ]),
  ...rowsOf(castOf('Kim Lee', 'Jo Lee'), [['Lee or Kim Lee?', '<?> or <Kim Lee>?']]),
  ...rowsOf(castOf('Ann', 'Ann Lee'), [['Ann met Ann Lee; Lee left', '<Ann> met <Ann Lee>; <Ann Lee> left']]),
  ...rowsOf(castOf('Quill'), [['a quill, Quill', 'a quill, <Quill>']], { words: ['quill'] }),
  ...rowsOf(castOf('Zed'), [['Maître Zed parle', '<Zed> parle']], { titles: ['Maître'] }),
  ...rowsOf(castOf('2', 'A', 'I'), [
    ['I have 2 votes and a plan.', 'I have 2 votes and a plan.'],
    ['2: yes\n@I no', '<2>: yes\n@<I> no'],
    ['2', '<2>'],
  ]),
  ...rowsOf(castOf('🦊', 'Mr. (X)', 'c++', '???'), [
    ['🦊 saw Mr. (X) and mr x', '<🦊> saw <Mr. (X)> and <Mr. (X)>'],
    ['C++ met ??? (twice)', '<c++> met <???> (twice)'],
  ]),
  ...rowsOf(castOf('小明', 'สมชาย', '민수'), [
    ['我看见小明说谎', '我看见<小明>说谎'],
    ['ฉันเห็นสมชายเมื่อคืน', 'ฉันเห็น<สมชาย>เมื่อคืน'],
    ['민수가 거짓말을 한다', '<민수>가 거짓말을 한다'],
  ]),
  ...rowsOf(castOf('Dr. Alan Smith', 'Jo'), [
    ['Dr Smith, Doctor Smith and Smith', '<Dr. Alan Smith>, <Dr. Alan Smith> and <Dr. Alan Smith>'],
    ['Dr Alan Smith, alan smith', '<Dr. Alan Smith>, <Dr. Alan Smith>'],
    ['The Dr asked a smith', 'The Dr asked a smith'],
  ]),
];
