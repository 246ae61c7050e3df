import { type CapturedEvent, type EventLinks, type JsonObject, parseEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import type { GameMappingInput } from '../../src/index.ts';

/** The forms in which agents of random games write several things in one text. */
export const partShapes = ['tags', 'rest', 'fields', 'sections', 'blocks'] as const;

type PartShape = (typeof partShapes)[number];

const base = { turn: { events: ['game:day'] }, gameEvents: { events: ['game:*'] } };

const tags = {
  speak: 'chat',
  thinking: 'thinking',
  wait: 'action',
  whisper: { to: 'to' },
  vote: { action: 'VOTE', payload: { target: 'target' } },
  b: 'text',
} as const;

export const partMappings: Readonly<Record<PartShape, GameMappingInput>> = {
  tags: { ...base, parts: { tags } },
  rest: { ...base, parts: { tags, rest: 'chat' } },
  fields: {
    ...base,
    parts: {
      fields: {
        say: 'chat',
        thought: 'thinking',
        plan: 'thinking',
        whisper: { to: 'to' },
        vote: { action: 'VOTE', payload: { target: 'target' } },
      },
    },
  },
  sections: {
    ...base,
    parts: { sections: { Speech: 'chat', Reasoning: 'thinking', 'Whisper to *': 'whisper', Pass: 'action' } },
  },
  blocks: { ...base, parts: { tags } },
};

/** Words of one kind, each planted once. */
export interface PartsTruth {
  /** Said to all, in messages that are whole. Each must be in the chat. */
  readonly said: string[];
  /** Thought, in messages of any kind. */
  readonly thought: string[];
  /** Whispered, in messages that are whole. */
  readonly whispered: string[];
  /** Whispered, in messages that are not whole. */
  readonly perhaps: string[];
}

export interface PartsGame {
  readonly shape: PartShape;
  readonly events: readonly CapturedEvent[];
  readonly truth: PartsTruth;
  /** Whether each text of it is whole and named. */
  readonly isWhole: boolean;
}

const players = ['Ann', 'Bo', 'Speak', 'Öz'];

/** A random game with planted words. Its truth is what it planted: nothing here reads a text. */
export function partsGame(seed: number): PartsGame {
  return new Play(seed).play();
}

interface Written {
  readonly text: string;
  /** What the game passes on to all; null: a word of its own. */
  readonly speech: string | null;
  readonly isWhole: boolean;
}

class Play {
  readonly #random: () => number;
  readonly #seed: number;
  readonly #shape: PartShape;
  readonly #events: CapturedEvent[] = [];
  readonly #truth: PartsTruth = { said: [], thought: [], whispered: [], perhaps: [] };
  #words = 0;
  #texts = '';
  #isWhole = true;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = randomFrom(seed);
    this.#shape = partShapes[seed % partShapes.length] ?? 'tags';
  }

  play(): PartsGame {
    players.forEach((name, at) => {
      this.#add('agent:created', { name }, { agentId: `a${at}` });
    });
    const messages = 3 + Math.floor(this.#random() * 6);
    for (let message = 0; message < messages; message += 1) {
      if (this.#random() < 0.3) this.#add('game:day', { turn: `Day ${message}` });
      this.#speak(`m${message}`, Math.floor(this.#random() * players.length));
    }
    return { shape: this.#shape, events: this.#events, truth: this.#truth, isWhole: this.#isWhole };
  }

  #speak(messageId: string, speaker: number): void {
    const { text, speech, isWhole } = this.#write();
    // Not each word that was made is in the text that was chosen.
    for (const words of Object.values(this.#truth) as string[][])
      words.splice(
        0,
        words.length,
        ...words.filter((word) => this.#texts.includes(word) || text.includes(word)),
      );
    this.#texts += text;
    this.#isWhole &&= isWhole;
    const links = { agentId: `a${speaker}`, messageId };
    const [first] = this.#cut(text).map((part) => this.#add('agent:text', { text: part }, links));
    if (this.#random() < 0.7)
      this.#add('agent:inference', { model: 'm-1', usage: { inputTokens: 1, outputTokens: 1 } }, links);
    if (first === undefined) return;
    for (const at of players.keys())
      if (at !== speaker) {
        const source = { kind: 'agent', agentId: `a${speaker}` };
        this.#add(
          'user:message',
          { text: speech ?? 'hello', source },
          { agentId: `a${at}`, substance: first.id },
        );
      }
  }

  /** Pieces as a stream gives them, each an event. */
  #cut(text: string): string[] {
    if (this.#shape !== 'blocks') return [text];
    const size = 1 + Math.floor(this.#random() * 20);
    return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, (at + 1) * size),
    );
  }

  #write(): Written {
    switch (this.#shape) {
      case 'fields':
        return this.#object();
      case 'sections':
        return this.#sections();
      case 'rest':
        return this.#random() < 0.4 ? this.#broken() : this.#plainSpeech();
      default:
        return this.#random() < 0.4 ? this.#broken() : this.#tagged();
    }
  }

  #tagged(): Written {
    const speech = [this.#word('said')];
    const inSpeech = this.#pick<() => string>([
      () => '',
      () => '<b>now</b>',
      () => 'I <3 this, 2 < 3',
      () => `<thinking>${this.#word('thought')}</thinking>`,
      () =>
        `<whisper to="Bo">${this.#word('whispered')} <thinking>${this.#word('thought')}</thinking></whisper>`,
      () => `<thinking>${this.#word('thought')} <speak>${this.#word('thought')}</speak></thinking>`,
    ])();
    const inThought = this.#pick([
      '',
      `<thinking>${this.#word('thought')}</thinking>`,
      `\`\`\`\n<speak>${this.#word('thought')}</speak>\n\`\`\``,
      `<whisper to="Ann">${this.#word('thought')}`,
      `{"speak": "${this.#word('thought')}"}`,
    ]);
    const parts = [
      `<thinking>${this.#word('thought')} ${inThought}</thinking>`,
      this.#random() < 0.3 ? this.#word('thought') : '\n',
      `<${this.#pick(['speak', 'SPEAK', 'speak tone="calm"'])}>${speech[0]} ${inSpeech}</speak>`,
      this.#pick([
        '',
        '<wait/>',
        `<vote target="Bo"/>`,
        `<whisper to='Öz'>${this.#word('whispered')}</whisper>`,
      ]),
    ];
    return { text: parts.join(''), speech: speech.join(' '), isWhole: true };
  }

  /** Speech outside of tags, as the mapping says. */
  #plainSpeech(): Written {
    const speech = this.#word('said');
    const text = `<thinking>${this.#word('thought')}</thinking>${speech}<whisper to="Bo">${this.#word('whispered')}</whisper>`;
    return { text, speech, isWhole: true };
  }

  /** A text of which some parts are not whole. Nothing of it needs to be said, and no thought may be. */
  #broken(): Written {
    const [one, two, three] = [this.#word('thought'), this.#word('thought'), this.#word('thought')];
    const text = this.#pick<() => string>([
      () => `<thinking>${one} <speak>${two}`,
      () => `${one}</thinking><thinking>${two}</thinking>`,
      () => `<thinking>${one}<speak>${two}</thinking></speak>`,
      () => `<thinking><thinking>${one}</thinking> ${two} <speak>${three}</speak>`,
      () => `<secret_plan>${one}</secret_plan><thinking>${two}</thinking>`,
      () => `<speak><plan>${one}</speak><thinking>${two}</thinking>`,
      () => `<speak>hello <thinking>${one} </speak> ${two}`,
      () => `<speak>hello <thinking ${one} </speak>`,
      () => `<pensée>${one}</pensée><speak>bonjour</speak>`,
      () => `<!-- ${one} --><thinking>${two}</thinking>`,
      () => `<think\u200bing>${one}</think\u200bing>`,
      () => `< thinking >${one}</ thinking ><thinking>${two}</thinking>`,
      () => `<whisper to="Bo"><speak>${this.#word('perhaps')}</speak>`,
      () => `<🤔>${one}</🤔>`,
      () => `<draft><speak>${one}</speak></draft>`,
      () => `<draft>${one} <speak>${two}</speak>`,
      () => `<speak>${one}</speak> ${two}</thinking><speak>hello</speak>`,
      () => `<Bo>${one}</Bo><thinking>${two}</thinking>`,
    ])();
    return { text, speech: null, isWhole: text.startsWith('< ') };
  }

  #object(): Written {
    const speech = this.#word('said');
    const thought = this.#word('thought');
    const whisper = {
      message: this.#word('whispered'),
      to: this.#pick<JsonObject['to']>(['Bo', ['Bo', 'Ann']]),
    };
    const whole = { thought, say: speech, whisper, vote: { target: 'Bo', why: 'x' } };
    if (this.#random() < 0.6) {
      const json = JSON.stringify(whole);
      const text = this.#pick([json, `\`\`\`json\n${json}\n\`\`\``, `${this.#word('thought')}\n${json}`]);
      return { text, speech, isWhole: true };
    }
    const [one, two] = [this.#word('thought'), this.#word('thought')];
    const text = this.#pick<() => string>([
      () => JSON.stringify({ monologue: one, plan: two }),
      () => JSON.stringify({ say: JSON.stringify({ thought: one }), thought: two }),
      () => `{"say": "${one}", "say": "${two}"}`,
      () => `{"say": "${one}`,
      () => JSON.stringify({ say: { text: one }, plan: { deep: [two] } }),
      () => JSON.stringify({ say: `<thinking>${one}</thinking>`, thought: two }),
      () => JSON.stringify({ whisper: { note: one, message: 'x' }, thought: two }),
    ])();
    return { text, speech: null, isWhole: false };
  }

  #sections(): Written {
    const head = (name: string) =>
      this.#pick([`## ${name}\n`, `**${name}:**\n`, `${name}:\n`, `**${name}**\n`]);
    const thought = this.#word('thought');
    if (this.#random() < 0.3) {
      const speech = this.#pick(['', `${head('Speech')}hello\n`]);
      const rest = speech === '' ? this.#word('thought') : speech;
      const text = `${rest}\n${head('Plan B')}${thought}\n${head('Reasoning')}${this.#word('thought')}`;
      return { text, speech: null, isWhole: false };
    }
    const speech = this.#word('said');
    const text = [
      `${head('Reasoning')}${thought}`,
      `${head('Speech')}${speech}`,
      `${head('Whisper to Bo')}${this.#word('whispered')}`,
      this.#pick(['', 'Pass:']),
    ].join('\n');
    return { text, speech, isWhole: true };
  }

  #word(kind: keyof PartsTruth): string {
    this.#words += 1;
    const word = `plantedword${this.#seed}x${this.#words}z`;
    this.#truth[kind].push(word);
    return word;
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #add(type: string, data: JsonObject, links: EventLinks & { agentId?: string } = {}): CapturedEvent {
    const timestamp = new Date(Date.UTC(2026, 2, 1, 9) + this.#events.length).toISOString();
    const event = parseEvent({ id: `e${this.#events.length}`, type, timestamp, ...links, data });
    this.#events.push(event);
    return event;
  }
}
