import { createRequire } from 'node:module';

/*
 * What limits a role to what a store does. Nothing here limits the owner of the tables, which redacts, deletes and repairs.
 *
 * events       The writer has no right to insert. It calls `append`, which has the rights of the owner: each row follows the one before it, continues
 *              its chain of checksums, belongs to a claimed dispatch, and is an event that every reader can read. So nothing can be put before,
 *              between or instead of events, and no reader stops at an added one. Triggers with the same checks cost an append three times as much.
 * dispatches   `epoch` grows by one with each claim and otherwise stays, `version` grows by one with each change of the envelope,
 *              `acknowledged` never falls and is at most the stored length. An envelope has its checksum, the id of its row, and a shape that
 *              this version reads. The grants leave out the columns that never change.
 * tasks        `version` grows by one, and a record has its checksum and a shape that this version reads.
 * openings     `beat` grows by one, and an opening that has claimed something stays.
 */

/** `schema` is the quoted name. The tables exist. */
export function guardsSql(schema: string): string {
  return `
${jsonSql(schema)}
${shapeSql(schema)}
${appendSql(schema)}
${rowGuardsSql(schema)}
${triggersSql(schema)}`;
}

/** Of NUL and of surrogates. A pattern of PostgreSQL in a template. */
const refusedEscapes = "'\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})'";

const fixed = 'SET search_path = pg_catalog, pg_temp';

function jsonSql(schema: string): string {
  return `
DO $do$ BEGIN
  IF current_setting('server_version_num')::int >= 180000 THEN
    CREATE FUNCTION ${schema}.crc(bytes bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS
      'SELECT ((pg_catalog.crc32(bytes) # 2147483648) - 2147483648)::integer';
  ELSE
    CREATE FUNCTION ${schema}.crc(bytes bytea) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS ${crcLoop};
  END IF;
END $do$;

/* Parsed as JSON.parse does. Escapes that jsonb refuses, of NUL and of surrogates, count as one letter each. */
CREATE FUNCTION ${schema}.parsed(line text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
  $$ SELECT regexp_replace(line, ${refusedEscapes}, '\\\\u0041', 'g')::jsonb $$;

/* Whether no value lies deeper than a reader follows, and no number is greater than a reader knows. */
CREATE FUNCTION ${schema}.is_readable(line text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN length(line) - length(translate(line, '[{', '')) <= 1000 THEN true ELSE
    (SELECT max(depth) <= 1000 FROM (
      SELECT sum(CASE WHEN m[1] IN ('[', '{') THEN 1 WHEN m[1] IN (']', '}') THEN -1 ELSE 0 END) OVER (ORDER BY n) AS depth
      FROM regexp_matches(line, '("(?:[^"\\\\]|\\\\.)*"|[][{}])', 'g') WITH ORDINALITY AS t (m, n)) d) END
    AND (line !~ '[0-9][eE][+]?[0-9]{3}|[0-9]{155}[0-9]{154}'
      OR NOT jsonb_path_exists(${schema}.parsed(line), 'strict $.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))')) $$;`;
}

function shapeSql(schema: string): string {
  return `
/* Whether a value has the shape of a JSON Schema, of the keywords that the schemas of Hansard use. */
CREATE FUNCTION ${schema}.fits(s jsonb, v jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  kind text := jsonb_typeof(v);
  kinds text[];
  item record;
  sub jsonb;
BEGIN
  IF s ? 'anyOf' AND NOT EXISTS (SELECT FROM jsonb_array_elements(s -> 'anyOf') o WHERE ${schema}.fits(o, v)) THEN RETURN false; END IF;
  IF s ? 'enum' AND NOT s -> 'enum' @> v THEN RETURN false; END IF;
  IF s ? 'type' THEN
    kinds := CASE jsonb_typeof(s -> 'type') WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(s -> 'type')) ELSE ARRAY[s ->> 'type'] END;
    IF NOT (kind = ANY (kinds) OR (kind = 'number' AND 'integer' = ANY (kinds) AND v::numeric = trunc(v::numeric))) THEN RETURN false; END IF;
  END IF;
  IF kind = 'string' THEN
    RETURN (NOT s ? 'pattern' OR (v #>> '{}') ~ (s ->> 'pattern')) AND (NOT s ? 'minLength' OR length(v #>> '{}') >= (s ->> 'minLength')::int);
  ELSIF kind = 'number' THEN
    RETURN abs(v::numeric) < 1.7976931348623157e308
      AND (NOT s ? 'minimum' OR v::numeric >= (s -> 'minimum')::numeric)
      AND (NOT s ? 'maximum' OR v::numeric <= (s -> 'maximum')::numeric)
      AND (NOT s ? 'exclusiveMinimum' OR v::numeric > (s -> 'exclusiveMinimum')::numeric);
  ELSIF kind = 'array' THEN
    RETURN NOT s ? 'items' OR NOT EXISTS (SELECT FROM jsonb_array_elements(v) e WHERE NOT ${schema}.fits(s -> 'items', e));
  ELSIF kind = 'object' THEN
    IF s ? 'required' AND NOT v ?& ARRAY(SELECT jsonb_array_elements_text(s -> 'required')) THEN RETURN false; END IF;
    FOR item IN SELECT * FROM jsonb_each(v) LOOP
      sub := coalesce(s #> ARRAY['properties', item.key], CASE jsonb_typeof(s -> 'additionalProperties') WHEN 'object' THEN s -> 'additionalProperties' END);
      IF sub IS NOT NULL AND NOT ${schema}.fits(sub, item.value) THEN RETURN false; END IF;
      IF s ? 'propertyNames' AND NOT ${schema}.fits(s -> 'propertyNames', to_jsonb(item.key)) THEN RETURN false; END IF;
    END LOOP;
  END IF;
  RETURN true;
END $$;`;
}

function appendSql(schema: string): string {
  return `
CREATE FUNCTION ${schema}.refuse(what text) RETURNS void LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'this role may not write %', what USING ERRCODE = '42501'; END $$;

CREATE FUNCTION ${schema}.is_owner(relation oid) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = relation $$;

/* Appends as the statement of the store does, with the rights of the owner. Returns the number of rows, or 0 where that statement inserts nothing. */
CREATE FUNCTION ${schema}.append(of bigint, claim bigint, first integer, lines text, ids text, checksums text, token text, commit text, previous integer)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER ${fixed} SET plan_cache_mode = force_generic_plan AS $$
DECLARE added integer;
BEGIN
  WITH claimed AS MATERIALIZED (
    SELECT set_config('synchronous_commit', commit, true), task_dir, dispatch_id FROM ${schema}.dispatches
    WHERE number = of AND epoch = claim AND writer = token FOR KEY SHARE),
  given AS (
    SELECT id, line, (row - 1)::integer AS row, checksum::integer AS checksum,
      lag(checksum::integer, 1, previous) OVER (ORDER BY row) AS before,
      -- Without the escapes that json refuses.
      (CASE WHEN strpos(line, '\\u') = 0 THEN line ELSE regexp_replace(line, ${refusedEscapes}, '\\\\u0041', 'g') END)::json AS event
    FROM ROWS FROM (string_to_table(lines, E'\\n'), string_to_table(ids, ','), string_to_table(checksums, ','))
      WITH ORDINALITY AS r (line, id, checksum, row))
  INSERT INTO ${schema}.events (dispatch, position, checksum, id, line)
  SELECT of, first + row, g.checksum, id, line FROM given g
  WHERE EXISTS (SELECT FROM claimed WHERE first > 0 OR previous = ${schema}.crc(convert_to(task_dir || E'\\n' || dispatch_id, 'UTF8')))
    AND (first = 0 OR EXISTS (SELECT FROM ${schema}.events e WHERE e.dispatch = of AND e.position = first - 1 AND e.checksum = previous))
    AND g.checksum = ${schema}.crc(int4send(before) || convert_to(line, 'UTF8'))
    AND id ~ '^[A-Za-z0-9._:-]+$' AND octet_length(id) <= 128
    AND (event -> 'id')::text = '"' || id || '"' AND starts_with((event -> 'type')::text, '"')
    AND (octet_length(line) < 2000 OR ${schema}.is_readable(line));
  GET DIAGNOSTICS added = ROW_COUNT;
  -- Two steps, because an expression with a query in it costs as much as the insert.
  IF added <> cardinality(string_to_array(ids, ',')) THEN
  IF added > 0 OR EXISTS (
    SELECT FROM ${schema}.dispatches WHERE number = of AND epoch = claim AND writer = token
      AND (first = 0 OR EXISTS (SELECT FROM ${schema}.events e WHERE e.dispatch = of AND e.position = first - 1 AND e.checksum = previous)))
  THEN PERFORM ${schema}.refuse('these events'); END IF; END IF;
  RETURN added;
END $$;
REVOKE ALL ON FUNCTION ${schema}.append FROM PUBLIC;`;
}

function rowGuardsSql(schema: string): string {
  const json = createRequire(import.meta.url);
  const schemaOf = (name: string) =>
    `'${JSON.stringify(json(`@hansard/events/schema/${name}.json`)).replaceAll("'", "''")}'::jsonb`;
  return `
CREATE FUNCTION ${schema}.guard_dispatches() RETURNS trigger LANGUAGE plpgsql ${fixed} AS $$
DECLARE envelope jsonb;
BEGIN
  IF ${schema}.is_owner(TG_RELID) THEN RETURN NEW; END IF;
  IF TG_OP = 'INSERT' THEN
    IF (NEW.epoch BETWEEN 0 AND 1) IS NOT TRUE THEN PERFORM ${schema}.refuse('this epoch'); END IF;
    IF NEW.written_as <> NEW.task_dir || '/' || NEW.dispatch_id THEN PERFORM ${schema}.refuse('this name'); END IF;
  ELSE
    IF NEW.epoch <> OLD.epoch + (NEW.writer IS DISTINCT FROM OLD.writer AND NEW.writer IS NOT NULL)::int THEN PERFORM ${schema}.refuse('this epoch'); END IF;
    IF NEW.version NOT BETWEEN OLD.version AND OLD.version + 1 THEN PERFORM ${schema}.refuse('this version'); END IF;
    IF NEW.acknowledged <> OLD.acknowledged AND (NEW.acknowledged < OLD.acknowledged OR NEW.acknowledged >
      (SELECT coalesce(max(position) + 1, 0) FROM ${schema}.events WHERE dispatch = OLD.number)) THEN PERFORM ${schema}.refuse('this acknowledged length'); END IF;
    IF NEW.searchable_events <> OLD.searchable_events AND (NEW.searchable_events < 0 OR NEW.searchable_events >
      (SELECT coalesce(max(position) + 1, 0) FROM ${schema}.events WHERE dispatch = OLD.number)) THEN PERFORM ${schema}.refuse('this length of the index'); END IF;
    IF (NEW.envelope, NEW.checksum, NEW.status, NEW.started_at) = (OLD.envelope, OLD.checksum, OLD.status, OLD.started_at) THEN RETURN NEW; END IF;
    IF NEW.version = OLD.version THEN PERFORM ${schema}.refuse('an envelope without a new version'); END IF;
  END IF;
  envelope := ${schema}.parsed(NEW.envelope);
  IF (${schema}.is_readable(NEW.envelope) AND ${schema}.fits(${schemaOf('envelope')}, envelope)
    AND envelope ->> 'dispatchId' = NEW.dispatch_id AND envelope ->> 'status' = NEW.status
    AND coalesce(envelope ->> 'startedAt', '') = NEW.started_at
    AND NEW.checksum = encode(sha256(convert_to(
      concat_ws(E'\\n', NEW.written_as, NEW.started_at, NEW.status, NEW.envelope), 'UTF8')), 'hex')) IS NOT TRUE
  THEN PERFORM ${schema}.refuse('this envelope'); END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION ${schema}.guard_tasks() RETURNS trigger LANGUAGE plpgsql ${fixed} AS $$
BEGIN
  IF ${schema}.is_owner(TG_RELID) THEN RETURN NEW; END IF;
  IF TG_OP = 'UPDATE' THEN
    IF NEW.version <> OLD.version + 1 THEN PERFORM ${schema}.refuse('this version'); END IF;
  END IF;
  IF (${schema}.is_readable(NEW.record) AND ${schema}.fits(${schemaOf('task')}, ${schema}.parsed(NEW.record))
    AND NEW.checksum = ${schema}.crc(convert_to(NEW.record, 'UTF8'))) IS NOT TRUE
  THEN PERFORM ${schema}.refuse('this record'); END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION ${schema}.guard_openings() RETURNS trigger LANGUAGE plpgsql ${fixed} AS $$
BEGIN
  IF ${schema}.is_owner(TG_RELID) THEN RETURN coalesce(NEW, OLD); END IF;
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM ${schema}.dispatches WHERE writer = OLD.token) THEN PERFORM ${schema}.refuse('the deletion of an opening with claims'); END IF;
    RETURN OLD;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF NEW.beat <> OLD.beat + 1 THEN PERFORM ${schema}.refuse('this heartbeat'); END IF;
  ELSIF length(NEW.owner) > 4000 THEN PERFORM ${schema}.refuse('this owner'); END IF;
  RETURN NEW;
END $$;`;
}

function triggersSql(schema: string): string {
  const row = (table: string, events: string) =>
    `CREATE TRIGGER guard BEFORE ${events} ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.guard_${table}();`;
  return `
${row('dispatches', 'INSERT OR UPDATE')}
${row('tasks', 'INSERT OR UPDATE')}
${row('openings', 'INSERT OR UPDATE OR DELETE')}`;
}

/** CRC-32 for servers before PostgreSQL 18, which has a function for it. */
const crcLoop = `$crc$
DECLARE
  sums bigint[] := '{${Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    return sum >>> 0;
  }).join(',')}}';
  sum bigint := 4294967295;
BEGIN
  FOR byte IN 0 .. length(bytes) - 1 LOOP sum := sums[((sum # get_byte(bytes, byte)) & 255) + 1] # (sum >> 8); END LOOP;
  sum := sum # 4294967295;
  RETURN CASE WHEN sum > 2147483647 THEN sum - 4294967296 ELSE sum END;
END $crc$`;
