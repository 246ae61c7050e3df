/** The zod of this package's schemas. The built packages of Hansard share it. */
export { z } from 'zod';
