export { interruption } from '@hansard/views';
