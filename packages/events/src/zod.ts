/** The zod that the schemas of this package are made with; the built packages of Hansard share it. */
export { z } from 'zod';
