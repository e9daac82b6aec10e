-- The tables of a hub, version 1. {partitions} is replaced; every statement runs in one transaction.
--
-- Who may read what: a role sees the repositories that it, or a role it is a member of, was granted (policies
-- below). Nobody but the owner writes a table of what is searched: who pushes fills the tables "sent_...",
-- which are write-only, and the function push() moves what it finds of the same transaction.

CREATE SCHEMA gitrag;
REVOKE ALL ON SCHEMA gitrag FROM PUBLIC;
GRANT USAGE ON SCHEMA gitrag TO PUBLIC;

-- What the hub was made with: schema, recipe.
CREATE TABLE gitrag.meta (key text PRIMARY KEY, value text NOT NULL);

CREATE TABLE gitrag.repositories (
    repository_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    main text NOT NULL DEFAULT ''  -- the branch that is searched: the first that was pushed
);
CREATE TABLE gitrag.grants (
    role text NOT NULL, repository_id integer NOT NULL REFERENCES gitrag.repositories ON DELETE CASCADE,
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
CREATE INDEX ON gitrag.postings (term);
CREATE INDEX ON gitrag.postings (content_id);
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
    terms bigint[] NOT NULL, frequencies integer[] NOT NULL, reexports text[] NOT NULL
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
    content_id integer
);
CREATE INDEX ON gitrag.sent_entries (sender);
CREATE TABLE gitrag.sent_words (
    sender xid8 NOT NULL DEFAULT pg_current_xact_id(), term bigint NOT NULL, found bytea NOT NULL
);
CREATE INDEX ON gitrag.sent_words (sender);

-- Rights. The role that ran `hub init` owns the tables and sees all of them.
ALTER TABLE gitrag.grants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON gitrag.grants FOR SELECT USING (
    pg_has_role(current_user, (SELECT oid FROM pg_roles WHERE rolname = role), 'USAGE'));
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
GRANT SELECT ON gitrag.meta, gitrag.grants, gitrag.repositories, gitrag.views, gitrag.view_words, gitrag.paths,
    gitrag.path_words, gitrag.entries, gitrag.contents, gitrag.chunks, gitrag.cuts, gitrag.vectors,
    gitrag.postings, gitrag.reexports TO PUBLIC;

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
            SELECT FROM gitrag.grants g JOIN pg_roles o ON o.rolname = g.role
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
        FROM gitrag.sent_entries e WHERE e.sender = here ORDER BY e.place
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
REVOKE ALL ON FUNCTION gitrag.pushable(text), gitrag.known(text),
    gitrag.push(text, text, text, text, integer, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gitrag.known(text), gitrag.push(text, text, text, text, integer, bytea) TO PUBLIC;
