export {
  type TaskPagesOptions,
  writeTaskPages,
} from './pages/task-pages.ts';
export type { ReportOptions } from './report-options.ts';
export { writeTaskMarkdown } from './task-markdown.ts';
export { writeTaskPage } from './task-page.ts';
