"""The tables of the projection of conversations. A file with another version of them is made anew."""

from typing import Final

VERSION: Final = 4
SCRIPT: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('version', {VERSION}), ('messages', 0), ('messages_head', x''), ('log', 0), ('log_head', x''),
    ('begun', NULL);
CREATE TABLE messages (
    position INTEGER PRIMARY KEY, grp TEXT NOT NULL, external_id TEXT, author TEXT NOT NULL, is_bot INTEGER NOT NULL,
    is_proactive INTEGER NOT NULL, sort TEXT NOT NULL, reply_to TEXT, said_at INTEGER NOT NULL,
    awaits_reply INTEGER NOT NULL, words_at INTEGER NOT NULL, withdrawn_at INTEGER
);
CREATE INDEX messages_by_external_id ON messages (grp, external_id);
CREATE INDEX messages_by_time ON messages (grp, said_at, position);
CREATE INDEX messages_edited ON messages (grp, words_at) WHERE words_at <> position;
CREATE INDEX messages_withdrawn ON messages (grp, withdrawn_at) WHERE withdrawn_at IS NOT NULL;
CREATE INDEX messages_to_answer ON messages (position) WHERE awaits_reply;
CREATE TABLE replies (
    reply_id TEXT PRIMARY KEY, position INTEGER NOT NULL, grp TEXT NOT NULL, answers INTEGER NOT NULL,
    action TEXT NOT NULL, target TEXT, external_id TEXT
) WITHOUT ROWID;
CREATE INDEX replies_by_message ON replies (answers);
CREATE INDEX replies_by_external_id ON replies (grp, external_id);
CREATE TABLE checkins (
    checkin_id TEXT PRIMARY KEY, grp TEXT NOT NULL, answers INTEGER NOT NULL, due_at INTEGER NOT NULL,
    scheduled_at INTEGER NOT NULL, state TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX checkins_to_send ON checkins (due_at) WHERE state = 'scheduled';
CREATE INDEX checkins_by_group ON checkins (grp);
CREATE TABLE prompts (
    prompt TEXT NOT NULL, version INTEGER NOT NULL, template TEXT NOT NULL, temperature REAL NOT NULL,
    max_tokens INTEGER NOT NULL, registered_at INTEGER NOT NULL, PRIMARY KEY (prompt, version)
) WITHOUT ROWID;
CREATE TABLE active_prompts (prompt TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID
"""
