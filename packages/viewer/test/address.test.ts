import { expect, it } from 'vitest';
import { addressOf, lenses, parseAddress, type Screen } from '../src/page/place-in-address.ts';

const nothing = { text: '', agentId: null, kind: null, failed: false };

it('has everything that is shown, and gives it back', () => {
  const texts = ['', 'plain', 'a b&c=d#e?f/g%', '<script>', '日本 \u202e', "it's"];
  for (const text of texts)
    for (const agentId of [null, '', 'agent 1&?', text])
      for (const at of [null, 0, 999_999_999])
        for (const failed of [true, false]) {
          const reader: Screen = {
            kind: 'reader',
            task: `lab/tasks/${text || 'maps'}`,
            id: text || 'd1',
            at,
            open: at === null ? 12 : null,
            query: { text, agentId, kind: failed ? null : 'call', failed },
            isOnlyHits: !failed,
          };
          expect(parseAddress(addressOf(reader))).toEqual(reader);
          const library: Screen = { kind: 'library', task: text || null, filter: text };
          expect(parseAddress(addressOf(library))).toEqual(library);
          for (const kind of lenses) {
            const agents = agentId === null ? [] : [agentId, 'a2'];
            const lens: Screen = { kind, task: text || 'maps', id: text || 'd1', agents, end: at };
            expect(parseAddress(addressOf(lens))).toEqual(lens);
          }
          const context: Screen = {
            kind: 'context',
            task: text || 'maps',
            id: text || 'd1',
            call: 7,
            end: at,
          };
          expect(parseAddress(addressOf(context))).toEqual(context);
          const search: Screen = { kind: 'search', text, task: agentId };
          expect(parseAddress(addressOf(search))).toEqual(search);
          const conversation: Screen = {
            kind: 'conversation',
            task: text || 'maps',
            id: text || 'd1',
            at,
            open: at,
          };
          expect(parseAddress(addressOf(conversation))).toEqual(conversation);
          const time: Screen = { kind: 'time', task: text || 'maps', id: text || 'd1' };
          expect(parseAddress(addressOf(time))).toEqual(time);
          const tree: Screen = { kind: 'tree', task: text || 'maps' };
          expect(parseAddress(addressOf(tree))).toEqual(tree);
        }
});

it('shows the rest of an address that has something wrong', () => {
  const reader = {
    kind: 'reader',
    task: 'a',
    id: 'b',
    at: null,
    open: null,
    query: nothing,
    isOnlyHits: false,
  };
  for (const fields of ['', '?at=-1&open=1e3', '?kind=none', '?at=&open=x&failed=yes&only=2', '?&&=&x=1'])
    expect(parseAddress(`#/d/a/b${fields}`)).toEqual(reader);
  expect(parseAddress('#/d/a/b/context?call=x')).toEqual(reader);
  for (const hash of ['', '#', '#/', '#/x/y', '#/d', '#/d/a', '#//'])
    expect(parseAddress(hash)).toEqual({ kind: 'library', task: null, filter: '' });
  expect(parseAddress('#/t/%E0%A4%A')).toEqual({ kind: 'library', task: '%E0%A4%A', filter: '' });
});
