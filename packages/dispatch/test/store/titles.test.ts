import { type NewEvent, newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';
import { openDispatchStore } from '../../src/index.ts';

const asked = (text: string, kind: 'user' | 'agent' | 'system' = 'user'): NewEvent =>
  newEvent('user:message', { text, source: { kind } as { kind: 'user' } });
const changed = newEvent('user:message', {
  text: 'stock.csv changed',
  source: { kind: 'external', what: 'file' },
});
const status = (data: Readonly<Record<string, string>>): NewEvent => newEvent('session:status', { ...data });

/** The title of a dispatch with these events after its end. */
async function titleAfter(
  events: readonly NewEvent[],
  fields: { readonly title?: string; readonly source?: { format: string; files: [] } } = {},
): Promise<string | null> {
  await using store = openDispatchStore(createMemoryStore());
  const dispatch = await store.beginDispatch('lab/tasks/titles', { role: 'worker', ...fields });
  for (const event of events) await dispatch.append(event);
  return (await dispatch.end({ status: 'completed' })).title;
}

const source = { format: 'claude-transcript', files: [] } as { format: string; files: [] };

it.each<readonly [what: string, events: readonly NewEvent[], title: string | null]>([
  ['nothing', [], null],
  ['the first message', [asked('Find it'), asked('Again')], 'Find it'],
  ['no message of the system', [asked('Log in', 'system'), asked('  \n'), asked('Find it')], 'Find it'],
  ['a message of a file watcher, if nobody says anything', [changed], 'stock.csv changed'],
  ['no message of a file watcher, if somebody says something', [changed, asked('Find it')], 'Find it'],
  ['a message of an agent', [asked('Do this', 'agent')], 'Do this'],
  ['one line without control characters', [asked('a\u0000b\n\tc\u202ed\u200b')], 'a b c d'],
  [
    'the title that the engine gave',
    [asked('Find it'), status({ kind: 'ai-title', aiTitle: 'Routes' })],
    'Routes',
  ],
  [
    'the title that the user gave, whatever follows',
    [
      status({ kind: 'custom-title', customTitle: 'Mine' }),
      asked('Find it'),
      status({ kind: 'ai-title', aiTitle: 'Routes' }),
    ],
    'Mine',
  ],
  ['the last of several', ['One', 'Two'].map((aiTitle) => status({ kind: 'ai-title', aiTitle })), 'Two'],
  [
    'no echo of a slash command without arguments',
    [
      asked(
        '<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>',
      ),
      asked('/compact'),
      asked('The real question about owls'),
    ],
    'The real question about owls',
  ],
  [
    'a slash command with its arguments, without markup',
    [
      asked(
        '<command-message>tidy</command-message>\n<command-name>/tidy</command-name>\n<command-args>top shelf</command-args>',
      ),
    ],
    '/tidy top shelf',
  ],
  ['no interruption', [asked('[Request interrupted by user for tool use]'), asked('Go on')], 'Go on'],
  [
    'no markup of an engine',
    [
      asked('<ide_opened_file>shelf.ts</ide_opened_file>'),
      asked('<system-reminder>x'),
      asked('<local-command-stdout>y</local-command-stdout>'),
    ],
    null,
  ],
  [
    'the words inside of other markup',
    [asked('<task lang="en"><b>Count</b> the owls</task>')],
    'Count the owls',
  ],
  ['words beside markup', [asked('<bash-stdout>a</bash-stdout>Why?')], 'Why?'],
  ['a text with markup inside', [asked('Use Vec<String> here'), asked('x')], 'Use Vec<String> here'],
  ['a text that begins like markup', [asked('<3 owls')], '<3 owls'],
  [
    'no markup that the engine gave as a title',
    [asked('Find it'), status({ kind: 'ai-title', aiTitle: '<system-reminder>no</system-reminder>' })],
    'Find it',
  ],
  ['no other status', [status({ kind: 'mode', aiTitle: 'Plan' })], null],
])('the title of a dispatch is taken from its events: %s', async (_, events, title) => {
  expect(await titleAfter(events)).toBe(title);
});

it('is at most 80 characters long, and not cut inside a word', async () => {
  expect(await titleAfter([asked(`${'word '.repeat(30)}`)])).toBe(`${'word '.repeat(15)}word…`);
  expect(await titleAfter([asked(`Read ${'x'.repeat(200)}`)])).toBe('Read…');
  expect(await titleAfter([asked('x'.repeat(200))])).toBeNull();
  expect(await titleAfter([asked(`Read${' '.repeat(960)}${'x'.repeat(200)}`)])).toBe('Read…');
  expect(await titleAfter([asked(`https://host.example/${'x'.repeat(200)}`)])).toBe('https://host.example/…');
  expect(await titleAfter([asked('字'.repeat(200))])).toBe(`${'字'.repeat(79)}…`);
  expect(await titleAfter([asked('🦊'.repeat(81))])).toBe(`${'🦊'.repeat(39)}…`);
});

it('does not replace a title that was given, except one of an import by one that its session was given', async () => {
  const events = [asked('Find it'), status({ kind: 'ai-title', aiTitle: 'Routes' })];
  expect(await titleAfter(events, { title: 'Given' })).toBe('Given');
  expect(await titleAfter(events, { title: 'Given', source })).toBe('Routes');
  expect(await titleAfter([asked('Find it')], { title: 'Given', source })).toBe('Given');
});
