import type { RandomChoices, WrittenRecord } from '../src/index.ts';

type Fields = Record<string, unknown>;

const start = Date.parse('2026-03-01T09:30:00.000Z');

/** Writes a session as pi does, made after recordings of 0.7 to 1.3 and its documentation. */
class Session {
  readonly records: Fields[] = [];
  readonly #random: RandomChoices;
  readonly #isFirst: boolean;
  #leaf: string | null = null;
  #calls = 0;
  readonly #ids: string[] = [];

  constructor(random: RandomChoices, isFirst: boolean) {
    this.#random = random;
    this.#isFirst = isFirst;
  }

  #some(fields: Fields): Fields {
    return Object.fromEntries(Object.entries(fields).filter(() => this.#random.chance(0.5)));
  }

  #time(): number {
    return start + this.records.length * 1_000;
  }

  header(): void {
    const fork = {
      parentSession: '/home/ann/.pi/agent/sessions/--srv--/2026-03-01T08-30-00-000Z_0197aaaa.jsonl',
    };
    const old = {
      provider: 'anthropic',
      modelId: 'claude-opus-4-5',
      thinkingLevel: 'off',
      ...this.#some({ branchedFrom: fork.parentSession }),
      ...this.#some({ version: 3 }),
    };
    this.records.push({
      type: 'session',
      ...(this.#isFirst ? old : { version: 3, ...this.#some(fork) }),
      id: '0197bbbb-0000-7000-8000-000000000001',
      timestamp: new Date(start).toISOString(),
      cwd: '/srv/shop',
    });
  }

  entry(type: string, fields: Fields): string {
    const id = (0xa0000000 + this.records.length * 7_919).toString(16);
    const tree = this.#isFirst && this.#random.chance(0.5) ? {} : { id, parentId: this.#leaf };
    this.records.push({ type, ...tree, timestamp: new Date(this.#time()).toISOString(), ...fields });
    this.#leaf = id;
    this.#ids.push(id);
    return id;
  }

  /** The user goes to another place of the tree, which writes nothing. */
  goBack(): void {
    this.#leaf = this.#random.pick([null, ...this.#ids]);
  }

  message(fields: Fields): void {
    this.entry('message', { message: { ...fields, timestamp: this.#time() } });
  }

  #text(): Fields {
    return { type: 'text', text: this.#random.text() };
  }

  #image(): Fields {
    return { type: 'image', data: 'iVBORw0KGgoAAAANSUhEUg==', mimeType: 'image/png' };
  }

  #usage(): Fields {
    const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = [900, 10, 100, 1].map(
      (most) => most + this.#random.below(9),
    );
    const cost = {
      input: 0.001,
      output: 0.002,
      cacheRead: 0,
      cacheWrite: 0,
      total: this.#random.pick([0, 0.003]),
    };
    return {
      usage: {
        input,
        output,
        cacheRead,
        cacheWrite,
        ...this.#some({ reasoning: 3 }),
        totalTokens: input + output + cacheRead + cacheWrite,
        cost,
      },
    };
  }

  prompt(): void {
    const parts = [this.#text(), ...(this.#random.chance(0.2) ? [this.#image()] : [])];
    this.message({ role: 'user', content: this.#random.chance(0.3) ? this.#random.text() : parts });
  }

  system(): void {
    const sections = {
      preamble: this.#random.text(),
      tools: this.#random.text(),
      rules: this.#random.text(),
      docs: this.#random.text(),
      cwd: this.#random.text(),
    };
    const tool = {
      name: 'bash',
      description: this.#random.text(),
      parameters: { type: 'object' },
      constrainedSampling: { type: 'json_schema', strict: false },
    };
    this.message({ role: 'system', content: '', sections, toolsAdded: [tool] });
  }

  answer(): void {
    const calls = Array.from({ length: this.#random.below(3) }, () => {
      this.#calls += 1;
      return {
        type: 'toolCall',
        id: `call_${this.#calls}`,
        name: this.#random.pick(['read', 'bash']),
        arguments: { path: this.#random.text() },
      };
    });
    const thought = {
      type: 'thinking',
      thinking: this.#random.text(),
      thinkingSignature: this.#random.text(),
    };
    const stopReason = calls.length > 0 ? 'toolUse' : this.#random.pick(['stop', 'aborted', 'error']);
    this.message({
      role: 'assistant',
      content: [
        ...(this.#random.chance(0.4) ? [thought] : []),
        ...(this.#random.chance(0.8) ? [this.#text()] : []),
        ...calls,
      ],
      api: 'openai-completions',
      provider: 'scripted',
      model: 'shop-1',
      ...this.#usage(),
      stopReason,
      ...(stopReason === 'error' ? { errorMessage: this.#random.text() } : {}),
      ...this.#some({
        responseId: this.#random.text(),
        rawStopReason: 'stop',
        durationMs: 5,
        thinkingLevel: 'medium',
      }),
    });
    for (const call of calls) {
      if (this.#random.chance(0.1)) continue;
      const content = [this.#text(), ...(this.#random.chance(0.1) ? [this.#image()] : [])];
      this.message({
        role: 'toolResult',
        toolCallId: call.id,
        toolName: call.name,
        content,
        isError: this.#random.chance(0.3),
        ...this.#some({ durationMs: 4, details: { diff: this.#random.text() } }),
      });
    }
  }

  compaction(): void {
    this.entry('compaction', { summary: this.#random.text(), tokensBefore: 900, ...this.#usage() });
  }

  other(): void {
    const text = () => this.#random.text();
    this.#random.pick([
      () => this.entry('model_change', { provider: 'scripted', modelId: 'shop-1' }),
      () => this.entry('thinking_level_change', { thinkingLevel: 'medium' }),
      () =>
        this.entry('usage', {
          kind: 'cache_warm',
          provider: 'scripted',
          model: 'shop-2',
          ...this.#usage(),
          note: text(),
        }),
      () =>
        this.entry('compaction', {
          summary: text(),
          tokensBefore: 900,
          ...(this.#isFirst ? { firstKeptEntryIndex: 1 } : {}),
          ...(this.#ids.length === 0 ? {} : { firstKeptEntryId: this.#random.pick(this.#ids) }),
          ...this.#some({ details: { readFiles: [text()] }, fromHook: true, ...this.#usage() }),
        }),
      () =>
        this.entry('branch_summary', {
          fromId: 'root',
          summary: text(),
          ...this.#some({ details: { modifiedFiles: [text()] } }),
        }),
      () => this.entry('context_edit', { targetId: this.#ids[0] ?? 'x', replacement: { content: text() } }),
      () => this.entry('custom', { customType: 'pi.state', data: { note: text() } }),
      () => this.entry('custom_message', { customType: 'note', content: text(), display: true }),
      () => this.entry('label', { targetId: this.#ids[0] ?? 'x', label: text() }),
      () => this.entry('session_info', { name: text() }),
      () =>
        this.message({
          role: 'bashExecution',
          command: text(),
          output: text(),
          exitCode: 1,
          cancelled: false,
          truncated: false,
        }),
      () => this.message({ role: 'custom', customType: 'x', content: text() }),
    ])();
  }
}

/** A session of pi. `isFirst`: of version 1, maybe written again by a newer pi. */
export function piSession(random: RandomChoices): WrittenRecord[] {
  const isFirst = random.chance(0.3);
  const session = new Session(random, isFirst);
  session.header();
  session.entry('model_change', { provider: 'scripted', modelId: 'shop-1' });
  if (random.chance(0.4)) session.system();
  session.prompt();
  if (random.chance(0.3)) session.compaction();
  while (session.records.length < 7 + random.below(8)) {
    if (!isFirst && random.chance(0.2)) session.goBack();
    random.pick([
      () => session.prompt(),
      () => session.answer(),
      () => session.answer(),
      () => session.other(),
    ])();
  }
  return session.records.map((record) => ({
    file: '2026-03-01T09-30-00-000Z_0197bbbb.jsonl',
    text: JSON.stringify(record),
  }));
}
