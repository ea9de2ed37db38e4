# As the image of PostgreSQL does: a database of POSTGRES_USER is made at the first start.
set -e
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
PGDATA=/var/lib/postgresql/data
[ "$1" = postgres ] || exec "$@"
[ "$(id -u)" != 0 ] || exec setpriv --reuid=postgres --regid=postgres --init-groups sh "$0" "$@"
if [ ! -e $PGDATA/PG_VERSION ]; then
	echo "$POSTGRES_PASSWORD" >/tmp/password
	initdb --pgdata=$PGDATA --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8
	echo "host all all all scram-sha-256" >>$PGDATA/pg_hba.conf
	echo "CREATE DATABASE \"$POSTGRES_USER\"" | postgres --single -D $PGDATA postgres
fi
exec postgres -D $PGDATA -c "listen_addresses=*" -c unix_socket_directories=/tmp
