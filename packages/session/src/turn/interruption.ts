export { interruption } from '@hansard/prompt';
