import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { copySession, repeatRows } from './written-copies.ts';
import { type SessionWriter, World, type WrittenSession } from './written-sessions.ts';

/** A file as it grows: how many lines it had at each stage. */
interface GrowingFile {
  readonly name: string;
  readonly session: WrittenSession;
  readonly lines: readonly JsonObject[];
  /** Fewer lines do not say whose file it is. */
  readonly atLeast: number;
  /** The file with the call that created it, and how many lines that file has then. */
  readonly after: { readonly name: string; readonly lines: number } | null;
}

/** Random sessions of Claude Code, and the files that they had at some stages. */
export class WrittenWorld {
  readonly world: World;
  readonly #stages: ReadonlyMap<string, number>[] = [];

  constructor(seed: number) {
    this.world = new World(randomFrom(seed));
    const writers: SessionWriter[] = [];
    for (let left = 8 + this.world.below(16); left > 0; left -= 1) {
      if (writers.length === 0 || (writers.length < 5 && this.world.chance(0.2))) this.#begin(writers);
      else this.world.pick(writers).step();
      if (this.world.chance(0.1)) this.#stage();
    }
    for (const writer of writers) if (writer.session.rows.length === 0) writer.step();
  }

  get sessions(): readonly WrittenSession[] {
    return this.world.sessions;
  }

  shuffled<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, at: this.world.random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ value }) => value);
  }

  #begin(writers: SessionWriter[]): void {
    const { world } = this;
    const origin = writers.length === 0 || world.chance(0.15) ? null : world.pick(world.sessions);
    const copy = origin === null ? null : copySession(world, origin);
    const writer = copy ?? repeatRows(world, world.begin(world.chance(0.25)));
    writers.push(writer);
    if (!world.chance(0.15)) writer.step();
  }

  #files(): GrowingFile[] {
    return this.sessions.flatMap((session) => [
      {
        ...{ name: `${session.id}.jsonl`, session, lines: session.lines },
        atLeast: session.lines.findIndex(({ sessionId }) => sessionId === session.id) + 1,
        after: null,
      },
      ...session.agents.map(({ id, lines, caller, callId, begins }) => {
        const of = session.agents.find((agent) => agent.id === caller);
        const calling = (line: JsonObject) =>
          line.type === 'assistant' && JSON.stringify(line.message).includes(`"${callId}"`);
        const after = {
          name: of === undefined ? `${session.id}.jsonl` : fileOf(session, of.id),
          lines: (of?.lines ?? session.lines).findIndex(calling) + 1,
        };
        return { name: fileOf(session, id), session, lines, atLeast: begins, after };
      }),
    ]);
  }

  /** Each file has what was written so far, or less of it. */
  #stage(): void {
    const before = this.#stages.at(-1);
    const shown = new Map<string, number>();
    for (const { name, lines, atLeast, after } of this.#files()) {
      const had = before?.get(name) ?? 0;
      const now = this.world.chance(0.6) ? lines.length : had + this.world.below(lines.length - had + 1);
      const isCreated = after === null || (shown.get(after.name) ?? 0) >= after.lines;
      shown.set(name, now < atLeast || !isCreated ? 0 : now);
    }
    this.#stages.push(shown);
  }

  /** Writes the files of each stage into a folder, the last time as they are at the end, and lets them be imported. */
  async grow(folder: string, importAll: (paths: readonly string[]) => Promise<void>): Promise<void> {
    const files = this.#files();
    for (const [name, { meta }] of this.#metas())
      if (meta !== null) mkdirSync(join(folder, name, '..'), { recursive: true });
    const sizes = new Map<string, number>();
    for (const stage of [...this.#stages, null]) {
      const paths = new Set<string>();
      for (const { name, session, lines } of files) {
        const shown = stage === null ? lines.length : (stage.get(name) ?? 0);
        if (shown === 0) continue;
        const path = join(folder, name);
        mkdirSync(join(path, '..'), { recursive: true });
        const next = lines[shown];
        const cut = next !== undefined && this.world.chance(0.3) ? JSON.stringify(next) : '';
        const text = textOf(lines.slice(0, shown)) + cut.slice(0, this.world.below(cut.length));
        if (sizes.get(name) !== text.length) writeFileSync(path, text);
        sizes.set(name, text.length);
        paths.add(join(folder, `${session.id}.jsonl`));
      }
      this.#writeMetas(folder, stage === null);
      const known = this.shuffled(
        [...paths].filter((path) => (sizes.get(path.slice(folder.length + 1)) ?? 0) > 0),
      );
      if (this.world.chance(0.5)) await importAll(known);
      else for (const path of known) await importAll([path]);
    }
  }

  #metas(): [string, { readonly meta: JsonObject | null }][] {
    return this.sessions.flatMap((session) =>
      session.agents.map(({ id: agent, meta }): [string, { readonly meta: JsonObject | null }] => [
        fileOf(session, agent).replace('.jsonl', '.meta.json'),
        { meta },
      ]),
    );
  }

  #writeMetas(folder: string, isAll: boolean): void {
    for (const [name, { meta }] of this.#metas())
      if (meta !== null && (isAll || this.world.chance(0.5)))
        writeFileSync(join(folder, name), JSON.stringify(meta));
  }
}

function fileOf({ id }: WrittenSession, agent: string): string {
  return `${id}/subagents/agent-${agent}.jsonl`;
}

function textOf(lines: readonly JsonObject[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
