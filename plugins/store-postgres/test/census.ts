import { Client } from 'pg';

/** The rows of a schema that no dispatch has, and the heartbeats without a claim. */
export async function censusOf(url: string, schema: string): Promise<string[]> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows: found } = await client.query('SELECT to_regclass($1) AS name', [`${schema}.dispatches`]);
    if (found[0]?.name === null) return [];
    const places: string[] = [];
    for (const table of ['events', 'event_words']) {
      const { rows } = await client.query(
        `SELECT DISTINCT dispatch FROM ${schema}.${table} WHERE dispatch > 0 AND dispatch NOT IN (
           SELECT number FROM ${schema}.dispatches UNION SELECT number FROM ${schema}.accepted_losses)`,
      );
      if (rows.length > 0) places.push(`rows of ${table} under numbers that no dispatch has`);
    }
    const { rows: openings } = await client.query(
      `SELECT token FROM ${schema}.openings WHERE token NOT IN (SELECT writer FROM ${schema}.dispatches WHERE writer IS NOT NULL)`,
    );
    return [...places, ...openings.map(({ token }) => String(token))];
  } finally {
    await client.end();
  }
}

/** Every row of every table of a schema, as text. */
export async function rowsOf(url: string, schema: string): Promise<Buffer> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows: tables } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [
      schema,
    ]);
    const texts: string[] = [];
    for (const { tablename } of tables) {
      const { rows } = await client.query(`SELECT t::text AS text FROM ${schema}.${tablename} t`);
      texts.push(...rows.map(({ text }) => text));
    }
    return Buffer.from(texts.join('\n'));
  } finally {
    await client.end();
  }
}
