const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Words without which a sentence has no grammar. They never count as names by their form alone. */
const functionWords = words(`
  a an the this that these those i you he she it we they me him her us them my your his its our their mine yours
  who whom whose which what when where why how and or but nor so yet if then else than as at by for from in into of off on
  onto out over to up with within without not no yes ok okay is am are was were be been being do does did done has have had
  having can could shall should would might must one two all any both each few many more most much other another some such
  only own same too very just also here there now again ever never always often about above after before below between
  down during under until while because oh hey hi hello please thanks well go let get got say says said see saw think
  know want like make made take took come came give gave use used vote votes voted night day game
`);

/** Nouns that stand without an article: "Hope is not enough". */
const massNouns = words(`
  art hope faith joy grace love charity patience prudence honor honour justice harmony liberty freedom destiny fortune
  peace truth mercy trinity verity felicity summer winter autumn spring dawn ginger basil clay rain snow sunny sky heaven
  gold silver ivory ebony cash
`);

/** Words that are also names, or parts of names that players choose. */
const otherWords = words(`
  will may mark rob sue pat drew chase grant wade chuck nick skip jack frank earnest rose rosemary bill
  rich victor dean earl duke king queen prince princess baron knight bishop pope abbot page major miles gene glen
  heath cliff dale lane brook brooke river forest woods wood stone rock ridge hill field lake marsh reed birch ash
  olive violet lily iris daisy poppy ivy holly hazel heather fern flora clover willow jasmine pearl ruby amber jade
  opal crystal diamond coral garnet sapphire star moon sun april june august sterling
  hunter fisher baker cook carter mason miller smith taylor tailor weaver turner walker potter shepherd archer butler
  parker porter carpenter cooper farmer gardener judge ranger scout sailor soldier wolf fox bear lion tiger eagle hawk
  falcon raven crow robin jay wren martin finch swan dove drake buck bunny kitty cat dog mouse bird fish
  black white red blue green brown gray grey pink purple orange yellow cyan magenta teal lime tan maroon navy
  north south east west young old long short little small large big best good strong swift sharp bright light dark shadow
  ghost spirit angel demon devil dragon phoenix storm thunder flash blaze frost ice fire
  max mini pro turbo lite ray guy don dot tab tip bond banks bush ford cross day days price rice
  ball hall wall moss park street gates fields flowers powers winters waters summers rivers brooks marks sparks
  carol penny dolly sandy candy honey sugar pepper saffron sage
  ace chance chip chase clue colt curt dash dusty happy jet jolly lance lucky merit noble piper quest rebel rusty
  sly sonny trip trey ward wills jewel gem melody lyric aria cadence viola harp belle bonny lass joker ref bat bug
  mid ha bar count
  doll dick peg colon kit tad van stew manual angle person people someone somebody nobody
  doctor teacher student stranger friend enemy leader captain boss chief host player agent
`);

/** Months: with a date or after "in" they are not names. */
export const months: ReadonlySet<string> = new Set(['april', 'may', 'june', 'august']);

/** Words that stand before numbers or names and say nothing by themselves: `Player 1`, `agent_001`. */
export const genericWords: ReadonlySet<string> = new Set(
  words(`
    player players agent agents bot user team seat number no nr participant speaker person model assistant human ai guest
    member npc character villager wolf werewolf session id instance
  `),
);

/** Titles, ignoring case, and those that are words in lower case. */
export const plainTitles: ReadonlySet<string> = new Set(
  words('mr mrs ms mx dr prof professor mister hr fr mme mlle sr sra st'),
);
export const capitalTitles: ReadonlySet<string> = new Set(
  words(`
    miss sir madam madame lady lord dame doctor uncle aunt auntie herr frau monsieur mademoiselle signor signora
    captain capt sergeant sgt reverend rev father sister brother master mistress
  `),
);

/** Parts of names that are never a name by themselves. */
export const particles: ReadonlySet<string> = new Set(
  words(
    'the of and de del della der den des di da do dos du la le les el al bin ibn van von zu mc mac o st jr sr ii iii iv',
  ),
);

const functionSet: ReadonlySet<string> = new Set(functionWords);
const massSet: ReadonlySet<string> = new Set(massNouns);
const commonSet: ReadonlySet<string> = new Set([...functionWords, ...massNouns, ...otherWords]);

export const isFunctionWord = (word: string): boolean => functionSet.has(word);
export const isMassNoun = (word: string): boolean => massSet.has(word);
/** Whether a word of English is also used as a name, so that only its form shows which one it is. */
export const isCommonWord = (word: string): boolean => commonSet.has(word);
