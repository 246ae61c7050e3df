export { appendEvent, appendEvents, createDispatch, updateDispatch } from './written-dispatches.ts';
