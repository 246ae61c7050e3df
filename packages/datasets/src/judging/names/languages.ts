/** What people make of given names in English: of each name its short and pet forms, in one line. */
const shortForms = `
  abigail abby gail; abraham abe bram; adelaide addie; albert al bert bertie; alexander alex xander sandy alec lex sasha; alexandra alex lexi sandra sasha
  alfred alf alfie fred; alice ali; amanda mandy; amelia amy millie; andrew andy drew; angela angie; ann annie nan; anna annie; anthony tony; antonia toni
  archibald archie; arthur art artie; augustus gus; barbara barb babs; barnaby barney; bartholomew bart; beatrice bea trixie; benedict ben; benjamin ben benny
  bernard bernie; bradley brad; caroline carrie; cassandra cass cassie; catherine cathy kate katie kitty cat; cecilia celia; charles charlie chuck chas
  charlotte charlie lottie; chester chet; christian chris; christina chris tina; christine chris chrissy; christopher chris kit topher; clifford cliff
  clinton clint; constance connie; cynthia cindy; daniel dan danny; david dave davey; deborah deb debbie; dominic dom nick; donald don donnie; dorothy dot dottie dolly
  douglas doug; edgar ed eddie; edmund ed eddie ned; edward ed eddie ted ned; edwin ed eddie; eleanor ellie nell nora; elizabeth liz lizzie beth betty eliza libby lisa
  emily em emmy; emma em emmy; eugene gene; ezekiel zeke; florence flo flossie; frances fran frannie; francis frank fran; franklin frank; frederick fred freddie rick
  gabriel gabe; gabriella gabby ella; geoffrey geoff jeff; gerald gerry jerry; gilbert gil bert; gregory greg; gwendolyn gwen; harold harry hal; harriet hattie
  henry hank harry hal; herbert herb bert; howard howie; hubert bert; isaac ike zac; isabella bella izzy isa; jacob jake; jacqueline jackie; james jim jimmy jamie
  janet jan; jeffrey jeff; jennifer jen jenny; jeremiah jerry; jeremy jerry jem; jessica jess jessie; joan joanie; john jack johnny; jonathan jon johnny nathan
  joseph joe joey jo; josephine jo josie; joshua josh; judith judy; julia julie jules; katherine kathy kate katie kat kitty; kathleen kathy kate; kenneth ken kenny
  kimberly kim; lawrence larry laurie; leonard leo len lenny; lewis lew; lillian lily lil; louis lou louie; louise lou; lucille lucy; madeline maddie; magdalena magda lena
  margaret maggie meg peg peggy marge greta rita; martha marty mattie; martin marty; matilda tilly mattie; matthew matt; maximilian max; maxwell max; melissa missy mel
  michael mike mick mickey; michelle shelly; mildred millie; mitchell mitch; nathan nate; nathaniel nate nathan; nicholas nick nicky; nicole nikki; oliver ollie; olivia liv livvy
  oscar ozzie; pamela pam; patricia pat patty trish tricia; patrick pat paddy; penelope penny; peter pete; philip phil pip; phillip phil; priscilla cilla; prudence pru
  rachel rach; randolph randy; raymond ray; rebecca becky becca; reginald reg reggie; richard rick dick rich richie ricky; robert bob bobby rob robbie bert; roberta bobbie
  roderick rod; rodney rod; roger rodge; ronald ron ronnie; rosemary rose rosie; rudolph rudy; russell russ; samantha sam; samuel sam sammy; sarah sally sadie; sebastian seb bas
  sidney sid; simon si; sophia sophie; stanley stan; stephanie steph; stephen steve; steven steve; stuart stu; susan sue suzie; sylvester sly; tabitha tabby; terence terry
  theodore ted teddy theo; theresa terri tess tessa; thomas tom tommy; timothy tim timmy; valerie val; vanessa nessa; veronica ronnie; victor vic; victoria vicky tori
  vincent vince vinny; virginia ginny; walter walt wally; wilfred wilf; wilhelmina mina; william will bill billy liam; winifred winnie; winston win; zachary zach zack
  alan al; alexis lexi; ashley ash; carolyn lynn carrie; claire clare; debra deb debbie; dennis denny; diane di; donna dona; evelyn eve evie; helen nell ellie; john ian jon
  kevin kev; linda lindy; margaret madge margie daisy; mary molly polly mae mamie may; norman norm; paul pauly; rebecca beck; stephen stevie; steven stevie; theodora dora thea
  thomas thom; william wil willie; alexander al; catherine cathy kay kit lena trina; katherine cathy kay kit lena trina; christine chrissy tina kris; christina chrissy kris
  elizabeth bess betsy liza lib; edward teddy; jennifer jenn; patricia patsy patti trisha; susan susie; robert robby; stephanie steffi; victoria vic; samantha sammy mantha
  michael mikey; nicholas nico nic; nicole cole; sandra sandy; julie jules; judith jude; jacob jay; joseph jody; jonathan jonny; matthew matty; peter petey; rachel shelly
`;

const byWord = new Map<string, Set<string>>();
for (const line of shortForms.split(/[;\n]/)) {
  const [name, ...forms] = line.trim().split(/\s+/);
  for (const form of forms.flatMap(variantsOf)) {
    if (name === undefined) continue;
    byWord.set(name, (byWord.get(name) ?? new Set<string>()).add(form));
    byWord.set(form, (byWord.get(form) ?? new Set<string>()).add(name));
  }
}

/** `Robby`, `Robbie` and `Robbi`. */
function variantsOf(form: string): string[] {
  const stem = /^(.{2,})(?:y|ie|i)$/.exec(form)?.[1];
  return stem === undefined ? [form] : [`${stem}y`, `${stem}ie`, `${stem}i`];
}

/** The short forms of a given name, folded, and the names that a short form stands for. */
export function nicknamesOf(word: string): readonly string[] {
  return [...(byWord.get(word) ?? [])];
}

/** How a language changes names. */
export interface NameLanguage {
  /** Endings, by the end of the name that they replace. */
  readonly inflections?: Readonly<Record<string, readonly string[]>>;
  /** What is written before a name as a part of the same word. */
  readonly prefixes?: readonly string[];
  readonly titles?: readonly string[];
}

const words = (text: string): readonly string[] => text.split(' ');

/** Endings of names by language, from grammars: the cases of names, with the usual changes of their stems. */
export const nameLanguages = {
  ru: {
    inflections: {
      '': words('а у ом е ы ов ам ами ах ой'),
      а: words('ы и е у ой ою ей'),
      я: words('и е ю ей ею'),
      й: words('я ю ем е и'),
      ь: words('я ю ем е и ью'),
      ия: words('ии ию ией'),
      ий: words('ия ию ием ии'),
      ел: words('ла лу лом ле'),
      ев: words('ьва ьву ьвом ьве'),
      ец: words('ца цу цом це'),
    },
    titles: words('господин госпожа товарищ'),
  },
  uk: {
    inflections: {
      '': words('а у ові ом ем і е ів ам ами ах'),
      а: words('и і у ою о'),
      я: words('і ї ю ею єю е є'),
      о: words('а у ові ом і'),
      ій: words('ія ію ієм ієві ії'),
      й: words('я ю єм єві ї'),
      ь: words('я ю ем еві і'),
      ка: words('ці'),
      га: words('зі'),
      ха: words('сі'),
    },
    titles: words('пан пані пане'),
  },
  pl: {
    inflections: {
      '': words('a owi em iem ie u y ów ami om ach'),
      a: words('y i ie ę ą o'),
      ia: words('i ię ią io'),
      ek: words('ka kowi kiem ku'),
      eł: words('ła łowi łem le'),
      ł: words('le'),
      r: words('rze'),
      ra: words('rze'),
      ka: words('ce'),
      ga: words('dze'),
      d: words('dzie'),
      da: words('dzie'),
      t: words('cie'),
      ta: words('cie'),
      sz: words('szu'),
      i: words('iego iemu im'),
      y: words('ego emu ym'),
    },
    titles: words('pan pani pana panu panem panią'),
  },
  cs: {
    inflections: {
      '': words('a ovi em u e ů i y ům ech'),
      a: words('y ě u o ou'),
      ie: words('ii í'),
      e: words('i í'),
      ek: words('ka kovi kem ku'),
      el: words('la lovi lem le'),
      r: words('ře'),
      ra: words('ře'),
      ka: words('ce'),
      ga: words('ze'),
      š: words('ši šem'),
    },
    titles: words('pan paní pane'),
  },
  fi: {
    inflections: {
      '': words(
        'n a ä ta tä lla llä lta ltä lle ssa ssä sta stä na nä ksi tta ttä in ia iä ille illa illä ista istä issa issä',
      ),
      i: words('en eja ejä ia iä'),
      nen: words('sen sta stä selle sella sellä sessa sessä seen sena senä seksi'),
      kka: words('kan kalla kalta kalle kassa kasta kaksi'),
      kki: words('kin killa kilta kille kissa kista'),
      tta: words('tan talla talta talle tassa tasta'),
      tti: words('tin tilla tilta tille tissa tista tiksi'),
      ttu: words('tun tulla tulta tulle tussa tusta'),
      kko: words('kon kolla kolta kolle kossa kosta'),
      a: words('aan'),
      o: words('oon'),
      u: words('uun'),
    },
  },
  tr: {
    inflections: {
      '': words(
        'ın in un ün nın nin nun nün a e ya ye ı i u ü yı yi yu yü da de ta te dan den tan ten la le yla yle lar ler',
      ),
    },
    titles: words('bey hanım sayın'),
  },
  hu: {
    inflections: {
      '': words(
        't at et ot nak nek val vel hoz hez höz ra re ról ről tól től ban ben ból ből nál nél ért é ék',
      ),
      a: words('át ának ával ához ára áról ától ában ából ánál áért áé'),
      e: words('ét ének ével éhez ére éről étől ében éből énél éért éé'),
    },
  },
  el: {
    inflections: { ος: words('ου ο ε'), ης: words('η'), ας: words('α'), α: words('ας'), η: words('ης') },
    titles: words('κύριος κυρία'),
  },
  lt: {
    inflections: {
      as: words('o ui ą u e ai'),
      is: words('io iui į iu y'),
      ys: words('io iui į iu y'),
      us: words('aus ui ų umi au'),
      a: words('os ai ą oje'),
      ė: words('ės ei ę e ėje'),
    },
    titles: words('ponas ponia'),
  },
  hr: {
    inflections: {
      '': words('a u e om em i'),
      a: words('e i u o om'),
      o: words('a u om'),
      e: words('a u om'),
    },
    titles: words('gospodin gospođa'),
  },
  ar: { prefixes: words('و ف ب ل ك وب ول فل'), titles: words('السيد السيدة') },
  he: { prefixes: words('ו ב ל מ ש כ ה ול וב ומ וש של'), titles: words('מר גברת') },
} as const satisfies Readonly<Record<string, NameLanguage>>;

export type NameLanguageId = keyof typeof nameLanguages;

export const nameLanguageIds = Object.keys(nameLanguages) as [NameLanguageId, ...NameLanguageId[]];
