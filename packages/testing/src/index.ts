export { countEvents, followDispatch, readEvents } from './read-dispatches.ts';
export { appendEvent, appendEvents, createDispatch, updateDispatch } from './written-dispatches.ts';
