-- The tables of a hub, version 1. {partitions} is replaced; every statement runs in one transaction.
--
-- Who may read what: a role that logs in reads the repositories that it, or a role it is a member of, was
-- granted, by functions that run as the owner and look that up. No table of what is searched can be read itself:
-- what EXPLAIN says of a plan would tell what a policy has left out. Policies are there all the same, for roles
-- that somebody lets read tables. Who pushes fills the tables "sent_...", which are write-only, and the function
-- push() moves what it finds of the same transaction.

CREATE SCHEMA gitrag;
REVOKE ALL ON SCHEMA gitrag FROM PUBLIC;
GRANT USAGE ON SCHEMA gitrag TO PUBLIC;

-- What the hub was made with: schema, recipe.
CREATE TABLE gitrag.meta (key text PRIMARY KEY, value text NOT NULL);

CREATE TABLE gitrag.repositories (
    repository_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    main text NOT NULL DEFAULT ''  -- the branch that is searched: the first that was pushed, or the one that was chosen
);
-- role: the role itself, not its name, which another role may have later; a dump has the name.
CREATE TABLE gitrag.grants (
    role regrole NOT NULL, repository_id integer NOT NULL REFERENCES gitrag.repositories ON DELETE CASCADE,
    pushes boolean NOT NULL, PRIMARY KEY (role, repository_id)
);

-- A branch as it was pushed last. left_out: files that no question can find.
CREATE TABLE gitrag.views (
    view_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository_id integer NOT NULL REFERENCES gitrag.repositories ON DELETE CASCADE,
    branch text NOT NULL, commit_id text, tree text NOT NULL DEFAULT '', left_out integer NOT NULL DEFAULT 0,
    pushed_at timestamptz, pushed_by text,
    -- What commits say, packed (gitrag/hub/history.py); words: in view_words.
    history bytea,
    UNIQUE (repository_id, branch)
);
CREATE TABLE gitrag.view_words (
    view_id integer NOT NULL REFERENCES gitrag.views ON DELETE CASCADE, term bigint NOT NULL,
    found bytea NOT NULL, PRIMARY KEY (view_id, term)
);

-- A blob in a language, cut. digest: of all that was sent of it, computed here, so that whoever sends other
-- pieces for a blob has a content of his own.
CREATE SEQUENCE gitrag.content_ids AS integer;
CREATE TABLE gitrag.contents (
    content_id integer PRIMARY KEY DEFAULT nextval('gitrag.content_ids'),
    blob bytea NOT NULL, language text NOT NULL, digest bytea NOT NULL,
    chunks integer NOT NULL, length integer NOT NULL, first_chunk integer NOT NULL,
    UNIQUE (blob, language, digest)
);

-- Of a repository, partitioned by it. path: bytes, as in git; written: as search patterns expect it.
CREATE SEQUENCE gitrag.path_ids AS integer;
CREATE TABLE gitrag.paths (
    repository_id integer NOT NULL, path_id integer NOT NULL DEFAULT nextval('gitrag.path_ids'),
    path bytea NOT NULL, written text NOT NULL, traits integer NOT NULL, top bigint NOT NULL,
    name_terms integer NOT NULL, vector bytea, signs bytea,
    PRIMARY KEY (repository_id, path_id), UNIQUE (repository_id, path)
) PARTITION BY HASH (repository_id);
CREATE TABLE gitrag.path_words (
    repository_id integer NOT NULL, term bigint NOT NULL, path_id integer NOT NULL,
    PRIMARY KEY (repository_id, term, path_id)
) PARTITION BY HASH (repository_id);
CREATE TABLE gitrag.entries (
    repository_id integer NOT NULL, view_id integer NOT NULL, path_id integer NOT NULL,
    content_id integer NOT NULL, place integer NOT NULL, collection text NOT NULL,
    PRIMARY KEY (repository_id, view_id, path_id)
) PARTITION BY HASH (repository_id);
CREATE INDEX ON gitrag.entries (content_id, repository_id);

-- Of a content, stored once for all repositories, partitioned by it.
CREATE SEQUENCE gitrag.chunk_ids AS integer;
CREATE TABLE gitrag.chunks (
    content_id integer NOT NULL, chunk_id integer NOT NULL, line_start integer NOT NULL,
    line_end integer NOT NULL, kind text NOT NULL, name text NOT NULL, name_key text NOT NULL,
    qualified_name text NOT NULL, signature text NOT NULL, docstring text NOT NULL, text text NOT NULL
) PARTITION BY HASH (content_id);
CREATE INDEX ON gitrag.chunks (content_id);
CREATE INDEX ON gitrag.chunks (chunk_id);
CREATE INDEX ON gitrag.chunks (name_key) WHERE kind <> 'section';
-- The narrow half of a chunk: all that a scope and a scan of sign bits read.
CREATE TABLE gitrag.cuts (
    content_id integer NOT NULL, chunk_id integer NOT NULL, length integer NOT NULL, kind text NOT NULL,
    signs bit({dimensions})
) PARTITION BY HASH (content_id);
CREATE INDEX ON gitrag.cuts (content_id);
CREATE TABLE gitrag.vectors (
    content_id integer NOT NULL, chunk_id integer NOT NULL, vector bytea NOT NULL
) PARTITION BY HASH (content_id);
CREATE INDEX ON gitrag.vectors (chunk_id);
-- found: the chunks of a content that have a term, and how often, four bytes each: a row for each chunk would
-- take three times the space.
CREATE TABLE gitrag.postings (
    term bigint NOT NULL, content_id integer NOT NULL, found bytea NOT NULL
) PARTITION BY HASH (content_id);
CREATE INDEX ON gitrag.postings (term);  -- and none by content, by which all postings of a view would be read
CREATE TABLE gitrag.reexports (
    name text NOT NULL, content_id integer NOT NULL, chunk_id integer NOT NULL
) PARTITION BY HASH (content_id);
CREATE INDEX ON gitrag.reexports (name);
CREATE INDEX ON gitrag.reexports (content_id);

DO $$
DECLARE
    parted text;
BEGIN
    FOREACH parted IN ARRAY ARRAY['paths', 'path_words', 'entries', 'chunks', 'cuts', 'vectors', 'postings',
        'reexports']
    LOOP
        FOR number IN 0..{partitions} - 1 LOOP
            EXECUTE format('CREATE TABLE gitrag.%I PARTITION OF gitrag.%I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                parted || '_' || number, parted, {partitions}, number);
        END LOOP;
    END LOOP;
END $$;

-- What is being pushed; sender: the transaction, which nobody else can name in advance, since it cannot be given.
CREATE TABLE gitrag.sent_chunks (
    sender xid8 NOT NULL DEFAULT pg_current_xact_id(),
    chunk_id integer NOT NULL DEFAULT nextval('gitrag.chunk_ids'),
    blob bytea NOT NULL, language text NOT NULL, kind text NOT NULL, name text NOT NULL,
    name_key text NOT NULL, qualified_name text NOT NULL, signature text NOT NULL, docstring text NOT NULL,
    text text NOT NULL, line_start integer NOT NULL, line_end integer NOT NULL, length integer NOT NULL,
    vector bytea CHECK (octet_length(vector) = {dimensions}), signs bit({dimensions}),
    terms bigint[] NOT NULL, frequencies integer[] NOT NULL, reexports text[] NOT NULL,
    -- Who reads it relies on this: another role may have sent it.
    CHECK (octet_length(blob) IN (20, 32)), CHECK (language ~ '^[a-z0-9_+#.-]{0,32}$'), CHECK (kind IN ({kinds})),
    CHECK (line_start BETWEEN 1 AND 10000000), CHECK (line_end BETWEEN line_start AND 10000000),
    CHECK (length BETWEEN 0 AND 100000000), CHECK ((vector IS NULL) = (signs IS NULL)),
    CHECK (cardinality(terms) = cardinality(frequencies)),
    CHECK (0 <= ALL (frequencies) AND 65535 >= ALL (frequencies))
);
CREATE INDEX ON gitrag.sent_chunks (sender);
CREATE TABLE gitrag.sent_contents (
    sender xid8 NOT NULL, blob bytea NOT NULL, language text NOT NULL, digest bytea NOT NULL,
    chunks integer NOT NULL, length integer NOT NULL, first_chunk integer NOT NULL
);
CREATE INDEX ON gitrag.sent_contents (sender, blob, language);
CREATE TABLE gitrag.sent_entries (
    sender xid8 NOT NULL DEFAULT pg_current_xact_id(),
    place integer NOT NULL, path bytea NOT NULL, written text NOT NULL, traits integer NOT NULL,
    top bigint NOT NULL, name_terms integer NOT NULL,
    vector bytea CHECK (octet_length(vector) = {dimensions}), signs bytea CHECK (octet_length(signs) = {dimensions} / 8),
    words bigint[] NOT NULL, blob bytea NOT NULL, language text NOT NULL, collection text NOT NULL,
    content_id integer,
    CHECK (place BETWEEN 0 AND 50000000), CHECK (traits BETWEEN 0 AND 255), CHECK (name_terms BETWEEN 0 AND 255),
    CHECK ((vector IS NULL) = (signs IS NULL)), CHECK (octet_length(path) BETWEEN 1 AND 4096),
    CHECK (collection ~ '^[a-z0-9._-]{1,200}$')
);
CREATE INDEX ON gitrag.sent_entries (sender);
CREATE TABLE gitrag.sent_words (
    sender xid8 NOT NULL DEFAULT pg_current_xact_id(), term bigint NOT NULL, found bytea NOT NULL,
    CHECK (octet_length(found) % 8 = 0)
);
CREATE INDEX ON gitrag.sent_words (sender);

-- Rights. The role that ran `hub init` owns the tables and sees all of them.
ALTER TABLE gitrag.grants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON gitrag.grants FOR SELECT USING (
    EXISTS (SELECT FROM pg_roles o WHERE o.oid = role AND pg_has_role(session_user, o.oid, 'USAGE')));
ALTER TABLE gitrag.repositories ENABLE ROW LEVEL SECURITY;
CREATE POLICY granted ON gitrag.repositories FOR SELECT USING (
    repository_id IN (SELECT g.repository_id FROM gitrag.grants g));
ALTER TABLE gitrag.views ENABLE ROW LEVEL SECURITY;
CREATE POLICY granted ON gitrag.views FOR SELECT USING (
    repository_id IN (SELECT g.repository_id FROM gitrag.grants g));
ALTER TABLE gitrag.view_words ENABLE ROW LEVEL SECURITY;
CREATE POLICY granted ON gitrag.view_words FOR SELECT USING (
    view_id IN (SELECT v.view_id FROM gitrag.views v));

DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['paths', 'path_words', 'entries'] LOOP
        EXECUTE format('ALTER TABLE gitrag.%I ENABLE ROW LEVEL SECURITY', guarded);
        EXECUTE format('CREATE POLICY granted ON gitrag.%I FOR SELECT USING (
            repository_id IN (SELECT g.repository_id FROM gitrag.grants g))', guarded);
    END LOOP;
    FOREACH guarded IN ARRAY ARRAY['contents', 'chunks', 'cuts', 'vectors', 'postings', 'reexports'] LOOP
        EXECUTE format('ALTER TABLE gitrag.%I ENABLE ROW LEVEL SECURITY', guarded);
        EXECUTE format('CREATE POLICY granted ON gitrag.%I FOR SELECT USING (
            EXISTS (SELECT FROM gitrag.entries e WHERE e.content_id = %I.content_id))', guarded, guarded);
    END LOOP;
END $$;
GRANT SELECT ON gitrag.meta TO PUBLIC;

-- Return the repositories that the role that logged in may read.
CREATE FUNCTION gitrag.readable() RETURNS integer[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(r.repository_id), '{}') FROM gitrag.repositories r WHERE
        pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'gitrag.meta'::regclass), 'USAGE')
        OR EXISTS (
            SELECT FROM gitrag.grants g JOIN pg_roles o ON o.oid = g.role
            WHERE g.repository_id = r.repository_id AND pg_has_role(session_user, o.oid, 'USAGE'))
$$;
-- Return those of some views that it may read.
CREATE FUNCTION gitrag.allowed(asked integer[]) RETURNS integer[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(v.view_id), '{}') FROM gitrag.views v
    WHERE v.view_id = ANY (asked) AND v.repository_id = ANY ((SELECT gitrag.readable())::integer[])
$$;

-- What a search reads, of the views that are asked as far as they are allowed.
CREATE FUNCTION gitrag.branches() RETURNS TABLE (
    view_id integer, repository_id integer, name text, branch text, searched boolean, commit_id text,
    left_out integer, files bigint, chunks bigint, pushed_at timestamptz, pushed_by text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.view_id, v.repository_id, r.name, v.branch, r.main = v.branch, v.commit_id, v.left_out, h.files,
        h.chunks, v.pushed_at, v.pushed_by
    FROM gitrag.views v JOIN gitrag.repositories r USING (repository_id), LATERAL (
        SELECT count(*) AS files, coalesce(sum(c.chunks), 0) AS chunks FROM gitrag.entries e
        JOIN gitrag.contents c USING (content_id)
        WHERE e.repository_id = v.repository_id AND e.view_id = v.view_id
    ) h WHERE v.repository_id = ANY ((SELECT gitrag.readable())::integer[]) ORDER BY r.name, v.branch
$$;
CREATE FUNCTION gitrag.granted() RETURNS TABLE (role text, repository text, pushes boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.rolname, r.name, g.pushes FROM gitrag.grants g JOIN gitrag.repositories r USING (repository_id)
    JOIN pg_roles o ON o.oid = g.role
    WHERE pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'gitrag.meta'::regclass), 'USAGE')
        OR pg_has_role(session_user, o.oid, 'USAGE')
    ORDER BY r.name, o.rolname
$$;
CREATE FUNCTION gitrag.entries_of(asked integer[]) RETURNS SETOF gitrag.entries
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT e.* FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id) WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[])
$$;
CREATE FUNCTION gitrag.contents_of(asked integer[]) RETURNS SETOF gitrag.contents
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.* FROM gitrag.contents c WHERE c.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.paths_of(asked integer[]) RETURNS SETOF gitrag.paths
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.* FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
    JOIN gitrag.paths p USING (repository_id, path_id) WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[])
$$;
CREATE FUNCTION gitrag.path_words_of(asked integer[], terms bigint[]) RETURNS SETOF gitrag.path_words
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.* FROM gitrag.views v JOIN gitrag.path_words w USING (repository_id)
    WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]) AND w.term = ANY (terms)
$$;
CREATE FUNCTION gitrag.cuts_of(asked integer[]) RETURNS SETOF gitrag.cuts
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM gitrag.cuts k WHERE k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.distances_of(asked integer[], question bit) RETURNS TABLE (chunk_id integer, differing integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.chunk_id, bit_count(k.signs # question)::integer AS differing FROM gitrag.cuts k
    WHERE k.signs IS NOT NULL AND k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.nearest_of(asked integer[], question bit, most integer) RETURNS TABLE (chunk_id integer, differing integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.chunk_id, bit_count(k.signs # question)::integer AS differing FROM gitrag.cuts k
    WHERE k.signs IS NOT NULL AND k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
    ORDER BY {nearest} LIMIT most
$$;
CREATE FUNCTION gitrag.chunks_of(asked integer[]) RETURNS SETOF gitrag.chunks
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM gitrag.chunks k WHERE k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.chunks_named(asked integer[], keys text[]) RETURNS SETOF gitrag.chunks
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM gitrag.chunks k
    WHERE k.name_key = ANY (keys) AND k.kind <> 'section' AND k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.chunks_by(asked integer[], ids integer[]) RETURNS SETOF gitrag.chunks
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM gitrag.chunks k
    WHERE k.chunk_id = ANY (ids) AND k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.chunks_in(asked integer[], ids integer[]) RETURNS SETOF gitrag.chunks
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM gitrag.chunks k
    WHERE k.content_id = ANY (ids) AND k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.vectors_by(asked integer[], ids integer[]) RETURNS SETOF gitrag.vectors
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM gitrag.vectors k
    WHERE k.chunk_id = ANY (ids) AND k.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.postings_of(asked integer[], terms bigint[]) RETURNS SETOF gitrag.postings
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.* FROM gitrag.postings p
    WHERE p.term = ANY (terms) AND p.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.reexports_of(asked integer[], names text[]) RETURNS SETOF gitrag.reexports
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.* FROM gitrag.reexports r
    WHERE r.name = ANY (names) AND r.content_id IN (
        SELECT e.content_id FROM gitrag.views v JOIN gitrag.entries e USING (repository_id, view_id)
        WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]))
$$;
CREATE FUNCTION gitrag.view_words_of(asked integer[], terms bigint[]) RETURNS SETOF gitrag.view_words
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.* FROM gitrag.view_words w
    JOIN gitrag.views v USING (view_id) WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[]) AND w.term = ANY (terms)
$$;
CREATE FUNCTION gitrag.histories_of(asked integer[]) RETURNS TABLE (view_id integer, history bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.view_id, v.history FROM gitrag.views v WHERE v.view_id = ANY ((SELECT gitrag.allowed(asked))::integer[])
$$;

-- Return the repository if the session's role may push to it. One that it may not push to and one that does
-- not exist are refused alike.
CREATE FUNCTION gitrag.pushable(asked text) RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found integer;
BEGIN
    SELECT r.repository_id INTO found FROM gitrag.repositories r WHERE r.name = asked AND (
        pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'gitrag.meta'::regclass), 'USAGE')
        OR EXISTS (
            SELECT FROM gitrag.grants g JOIN pg_roles o ON o.oid = g.role
            WHERE g.repository_id = r.repository_id AND g.pushes AND pg_has_role(session_user, o.oid, 'USAGE')));
    IF found IS NULL THEN
        RAISE EXCEPTION 'no repository to push to' USING ERRCODE = 'GR001';
    END IF;
    RETURN found;
END $$;

-- List the contents of a repository that need not be sent again: only those it has already, whatever others have.
CREATE FUNCTION gitrag.known(asked text) RETURNS TABLE (blob bytea, language text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own integer := gitrag.pushable(asked);
BEGIN
    RETURN QUERY SELECT DISTINCT c.blob, c.language FROM gitrag.contents c JOIN gitrag.entries e USING (content_id)
        WHERE e.repository_id = own;
END $$;

-- Return the commit of a branch, which stays until this transaction ends, and the branch that is searched.
CREATE FUNCTION gitrag.held(asked text, asked_branch text, OUT commit_id text, OUT main text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own integer := gitrag.pushable(asked);
BEGIN
    PERFORM pg_advisory_xact_lock_shared({lock});  -- gc waits
    INSERT INTO gitrag.views (repository_id, branch) VALUES (own, asked_branch) ON CONFLICT DO NOTHING;
    SELECT v.commit_id INTO held.commit_id FROM gitrag.views v
        WHERE v.repository_id = own AND v.branch = asked_branch FOR UPDATE;
    SELECT coalesce(nullif(r.main, ''), asked_branch) INTO held.main FROM gitrag.repositories r
        WHERE r.repository_id = own;
END $$;

-- Make what this transaction has sent the state of a branch.
CREATE FUNCTION gitrag.push(
    asked text, asked_branch text, asked_commit text, asked_tree text, asked_left_out integer,
    asked_history bytea, OUT contents_sent bigint, OUT chunks_sent bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own integer := gitrag.pushable(asked);
    here xid8 := pg_current_xact_id();
    this_view integer;
BEGIN
    PERFORM pg_advisory_xact_lock_shared({lock});  -- gc waits
    INSERT INTO gitrag.views (repository_id, branch) VALUES (own, asked_branch) ON CONFLICT DO NOTHING;
    SELECT view_id INTO this_view FROM gitrag.views WHERE repository_id = own AND branch = asked_branch FOR UPDATE;

    INSERT INTO gitrag.sent_contents
        SELECT here, k.blob, k.language,
            sha256(string_agg(sha256(convert_to(ROW(k.kind, k.name, k.name_key, k.qualified_name, k.signature,
                k.docstring, k.text, k.line_start, k.line_end, k.length, k.vector, k.signs, k.terms,
                k.frequencies, k.reexports)::text, 'UTF8')), ''::bytea ORDER BY k.chunk_id)),
            count(*), sum(k.length), min(k.chunk_id)
        FROM gitrag.sent_chunks k WHERE k.sender = here GROUP BY k.blob, k.language;
    -- In one order, so that two pushes of the same contents do not wait for each other.
    INSERT INTO gitrag.contents (blob, language, digest, chunks, length, first_chunk)
        SELECT s.blob, s.language, s.digest, s.chunks, s.length, s.first_chunk FROM gitrag.sent_contents s
        WHERE s.sender = here ORDER BY s.blob, s.language ON CONFLICT DO NOTHING;
    -- New are those of which the first chunk is the one that was just sent.
    INSERT INTO gitrag.chunks
        SELECT c.content_id, k.chunk_id, k.line_start, k.line_end, k.kind, k.name, k.name_key, k.qualified_name,
            k.signature, k.docstring, k.text
        FROM gitrag.sent_chunks k JOIN gitrag.sent_contents s USING (sender, blob, language)
        JOIN gitrag.contents c USING (blob, language, digest, first_chunk) WHERE k.sender = here ORDER BY k.chunk_id;
    INSERT INTO gitrag.cuts
        SELECT c.content_id, k.chunk_id, k.length, k.kind, k.signs
        FROM gitrag.sent_chunks k JOIN gitrag.sent_contents s USING (sender, blob, language)
        JOIN gitrag.contents c USING (blob, language, digest, first_chunk) WHERE k.sender = here ORDER BY k.chunk_id;
    INSERT INTO gitrag.vectors
        SELECT c.content_id, k.chunk_id, k.vector
        FROM gitrag.sent_chunks k JOIN gitrag.sent_contents s USING (sender, blob, language)
        JOIN gitrag.contents c USING (blob, language, digest, first_chunk)
        WHERE k.sender = here AND k.vector IS NOT NULL ORDER BY k.chunk_id;
    INSERT INTO gitrag.postings
        SELECT t.term, c.content_id, string_agg(int4send(k.chunk_id) || int4send(t.tf), ''::bytea ORDER BY k.chunk_id)
        FROM gitrag.sent_chunks k JOIN gitrag.sent_contents s USING (sender, blob, language)
        JOIN gitrag.contents c USING (blob, language, digest, first_chunk),
        unnest(k.terms, k.frequencies) AS t (term, tf)
        WHERE k.sender = here GROUP BY t.term, c.content_id ORDER BY t.term;
    INSERT INTO gitrag.reexports
        SELECT r.own, c.content_id, k.chunk_id
        FROM gitrag.sent_chunks k JOIN gitrag.sent_contents s USING (sender, blob, language)
        JOIN gitrag.contents c USING (blob, language, digest, first_chunk), unnest(k.reexports) AS r (own)
        WHERE k.sender = here;

    UPDATE gitrag.sent_entries e SET content_id = c.content_id
        FROM gitrag.sent_contents s JOIN gitrag.contents c USING (blob, language, digest)
        WHERE e.sender = here AND s.sender = here AND e.blob = s.blob AND e.language = s.language;
    UPDATE gitrag.sent_entries e SET content_id = c.content_id
        FROM (
            SELECT DISTINCT ON (c.blob, c.language) c.blob, c.language, c.content_id FROM gitrag.contents c
            JOIN gitrag.entries h USING (content_id) WHERE h.repository_id = own
            ORDER BY c.blob, c.language, (h.view_id = this_view) DESC, c.content_id DESC
        ) c
        WHERE e.sender = here AND e.content_id IS NULL AND e.blob = c.blob AND e.language = c.language;
    IF EXISTS (SELECT FROM gitrag.sent_entries WHERE sender = here AND content_id IS NULL) THEN
        RAISE EXCEPTION 'contents are missing' USING ERRCODE = 'GR002';
    END IF;
    WITH new AS (
        INSERT INTO gitrag.paths (repository_id, path, written, traits, top, name_terms, vector, signs)
        SELECT own, e.path, e.written, e.traits, e.top, e.name_terms, e.vector, e.signs
        FROM gitrag.sent_entries e
        -- A row that conflicts has taken an id all the same.
        WHERE e.sender = here AND NOT EXISTS (
            SELECT FROM gitrag.paths p WHERE p.repository_id = own AND p.path = e.path)
        ORDER BY e.place
        ON CONFLICT (repository_id, path) DO NOTHING RETURNING path_id, path
    )
    INSERT INTO gitrag.path_words
        SELECT DISTINCT own, word, new.path_id FROM new JOIN gitrag.sent_entries e USING (path), unnest(e.words) AS word
        WHERE e.sender = here;
    DELETE FROM gitrag.entries WHERE repository_id = own AND view_id = this_view;
    INSERT INTO gitrag.entries
        SELECT own, this_view, p.path_id, e.content_id, e.place, e.collection FROM gitrag.sent_entries e
        JOIN gitrag.paths p ON p.repository_id = own AND p.path = e.path WHERE e.sender = here ORDER BY p.path_id;

    DELETE FROM gitrag.view_words WHERE view_id = this_view;
    INSERT INTO gitrag.view_words SELECT this_view, w.term, w.found FROM gitrag.sent_words w WHERE w.sender = here;
    UPDATE gitrag.views SET commit_id = asked_commit, tree = asked_tree, left_out = asked_left_out,
        history = asked_history, pushed_at = now(), pushed_by = session_user WHERE view_id = this_view;
    UPDATE gitrag.repositories SET main = asked_branch WHERE repository_id = own AND main = '';

    SELECT count(*) INTO contents_sent FROM gitrag.sent_contents WHERE sender = here;
    SELECT count(*) INTO chunks_sent FROM gitrag.sent_chunks WHERE sender = here;
    DELETE FROM gitrag.sent_chunks WHERE sender = here;
    DELETE FROM gitrag.sent_contents WHERE sender = here;
    DELETE FROM gitrag.sent_entries WHERE sender = here;
    DELETE FROM gitrag.sent_words WHERE sender = here;
END $$;
-- Make another branch the one that is searched.
CREATE FUNCTION gitrag.choose(asked text, asked_branch text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own integer := gitrag.pushable(asked);
BEGIN
    PERFORM FROM gitrag.views v WHERE v.repository_id = own AND v.branch = asked_branch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such branch' USING ERRCODE = 'GR003';
    END IF;
    UPDATE gitrag.repositories SET main = asked_branch WHERE repository_id = own;
END $$;

-- Drop a branch; the one that is searched only where it is the last. Contents and paths are left to gc.
CREATE FUNCTION gitrag.discard(asked text, asked_branch text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own integer := gitrag.pushable(asked);
    this_view integer;
BEGIN
    PERFORM pg_advisory_xact_lock_shared({lock});
    PERFORM FROM gitrag.repositories WHERE repository_id = own FOR UPDATE;  -- nobody adds a branch meanwhile
    SELECT view_id INTO this_view FROM gitrag.views WHERE repository_id = own AND branch = asked_branch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such branch' USING ERRCODE = 'GR003';
    END IF;
    IF EXISTS (SELECT FROM gitrag.repositories WHERE repository_id = own AND main = asked_branch) THEN
        IF EXISTS (SELECT FROM gitrag.views WHERE repository_id = own AND view_id <> this_view) THEN
            RAISE EXCEPTION 'the branch is searched' USING ERRCODE = 'GR004';
        END IF;
        UPDATE gitrag.repositories SET main = '' WHERE repository_id = own;
    END IF;
    DELETE FROM gitrag.entries WHERE repository_id = own AND view_id = this_view;
    DELETE FROM gitrag.views WHERE view_id = this_view;
END $$;

REVOKE ALL ON FUNCTION gitrag.pushable(text), gitrag.known(text), gitrag.held(text, text),
    gitrag.choose(text, text), gitrag.discard(text, text),
    gitrag.push(text, text, text, text, integer, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gitrag.known(text), gitrag.held(text, text), gitrag.choose(text, text),
    gitrag.discard(text, text), gitrag.push(text, text, text, text, integer, bytea) TO PUBLIC;

-- A new function may be executed by everybody; these two only say what others need.
REVOKE ALL ON FUNCTION gitrag.allowed(integer[]), gitrag.readable() FROM PUBLIC;
