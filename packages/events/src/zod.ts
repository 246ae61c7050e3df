/** The zod of this package's schemas. The built packages of Hansard share it. It has no `z.core`, `z.compile` and `z.locales`. */
export { z } from 'zod';
