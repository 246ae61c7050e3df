export type { ReportOptions } from './dispatch-report.ts';
export { writePullRequest, writeTaskMarkdown } from './task-markdown.ts';
export { writeTaskPage, writeTaskPages } from './task-pages.ts';
