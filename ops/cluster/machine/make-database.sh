#!/bin/sh
# Patroni runs this once for a new cluster, with the connection string of a superuser.
set -eu
psql "$1" -v ON_ERROR_STOP=1 <<'SQL'
CREATE ROLE burrow LOGIN PASSWORD '@BURROW_PASSWORD@';
-- What a hub sets in each session. Behind PgBouncer no session lasts, so the role has it.
ALTER ROLE burrow SET enable_seqscan = off;
ALTER ROLE burrow SET enable_bitmapscan = off;
ALTER ROLE burrow SET enable_hashjoin = off;
ALTER ROLE burrow SET enable_mergejoin = off;
ALTER ROLE burrow SET jit = off;
ALTER ROLE burrow SET idle_in_transaction_session_timeout = '15s';
CREATE DATABASE burrow OWNER burrow;
SQL
