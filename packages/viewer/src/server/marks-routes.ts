import { type NewNote, type Note, type NoteWriter, readNotes } from '@hansard/dispatch';
import { isPlainObject } from '@hansard/events';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Marks } from '../answers.ts';
import { viewerErrors } from '../viewer-errors.ts';
import { harmless } from './cut-texts.ts';
import { bodyOf } from './viewed-runs.ts';
import type { OpenDispatches, ViewedStore } from './viewed-store.ts';

/** The paths that take a POST if marks can be made. */
export const marksPath = /^\/api\/marks\/(?:add|remove)$/;

const mostBytes = 64 * 1024;

/**
 * The marks of people, below `/api`.
 *
 *     GET /marks?task=&id=              those of the store, of a project, or of a session
 *     POST /marks/add     { "on": { "task", "id", "position"? } | null, "kind", "text"?, "rating"?, "address"? }
 *     POST /marks/remove  { "on", "mark": the id }
 */
export function marksRoutes(store: ViewedStore, dispatches: OpenDispatches, writer?: NoteWriter): Hono {
  const app = new Hono();

  app.get('/marks', async (context) => {
    const { task, id } = context.req.query();
    const scope = {
      ...(task === undefined ? {} : { taskDir: task }),
      ...(id === undefined ? {} : { dispatchId: id }),
    };
    const { notes, errors } = await readNotes(store, scope);
    const marks: Marks = {
      reader: writer === undefined ? null : harmless(writer.reader),
      marks: notes.map(({ on, ...note }) => ({
        ...harmless(note),
        on:
          on === null ? null : { task: on.taskDir, id: on.dispatchId, position: on.event?.position ?? null },
      })),
      problems: errors.map(({ message }) => harmless(message)),
    };
    return context.json(marks);
  });
  if (writer === undefined) return app;

  const limit = bodyLimit({
    maxSize: mostBytes,
    onError: (context) => context.json({ message: `A mark has at most ${mostBytes} bytes.` }, 413),
  });

  app.post('/marks/add', limit, async (context) => {
    const { on, kind, text, rating, address } = await bodyOf(context);
    const words = { kind, text, rating, address };
    const known = Object.entries(words).filter(([, value]) => value !== undefined);
    const types = { kind: 'string', text: 'string', rating: 'number', address: 'string' } as const;
    if (known.some(([name, value]) => typeof value !== types[name as keyof typeof types]))
      throw invalid('A field of the mark has another type.');
    const place = await placeOf(on);
    const note = { on: place, ...Object.fromEntries(known) } as unknown as NewNote;
    return context.json({ id: (await writer.add(note)).id });
  });

  app.post('/marks/remove', limit, async (context) => {
    const { on, mark } = await bodyOf(context);
    if (typeof mark !== 'string') throw invalid('The mark is not named.');
    await writer.remove({ id: mark, on: refOf(on) });
    return context.json({});
  });

  return app;

  async function placeOf(on: unknown): Promise<NewNote['on']> {
    const ref = refOf(on);
    if (ref === null || !isPlainObject(on)) return null;
    const open = await dispatches.find(ref);
    if (open === null) throw invalid(`There is no dispatch ${ref.dispatchId} in ${ref.taskDir}.`);
    const { position = null } = on;
    if (position === null) return ref;
    const event = Number.isSafeInteger(position) ? await open.rows.event(Number(position)) : null;
    if (event === null) throw invalid('There is no event at this position.');
    return { ...ref, event: { id: event.id, position: Number(position) } };
  }
}

function refOf(on: unknown): Pick<Exclude<Note['on'], null>, 'taskDir' | 'dispatchId'> | null {
  if (on === null) return null;
  if (isPlainObject(on) && typeof on.task === 'string' && typeof on.id === 'string')
    return { taskDir: on.task, dispatchId: on.id };
  throw invalid('A mark is on a session, an event, or null.');
}

function invalid(message: string) {
  return viewerErrors.error('VIEW_MESSAGE_INVALID', message);
}
