# Makes and keeps one throw-away PostgreSQL until standard input ends, then removes it.
#
# usage: sh postgres.sh FOLDER BINARIES PORT [-c NAME=VALUE ...]
trap '' PIPE INT
unset PGDATA PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGOPTIONS
export LC_ALL=C
folder=$1 binaries=$2 port=$3
shift 3
"$binaries/initdb" --pgdata="$folder/data" --no-sync --username=kcp --pwfile="$folder/password" \
    --auth=password --encoding=UTF8 --locale=C >"$folder/server.log" 2>&1 </dev/null || exit 1
"$binaries/postgres" -D "$folder/data" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories="$folder" "$@" >>"$folder/server.log" 2>&1 </dev/null &
server=$!
until grep -q '^ready' "$folder/data/postmaster.pid" 2>/dev/null; do
    kill -0 "$server" 2>/dev/null || exit 1
    sleep 0.05
done
echo "$server"
cat >/dev/null
kill -QUIT "$server"
wait "$server"
rm -rf "$folder/data"
