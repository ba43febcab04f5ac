# Keeps one throw-away PostgreSQL for as long as somebody needs it, and removes all of it afterwards.
#
# usage: sh postgres.sh MODE FOLDER BINARIES PORT LINGER [-c NAME=VALUE ...]
#   owned   obeys commands on standard input; the end of the input is the end of the server
#   shared  runs while some process holds a lock on FOLDER/run.lock, and LINGER seconds longer
#   small   as owned; FOLDER/LINGER (data or wal) is a disk that `fill` fills and `free` frees
#
# Runs as the unprivileged user that owns FOLDER. Answers one word per command on standard output.

# Nobody may be left to read an answer; the clean-up must happen all the same.
trap '' PIPE
unset PGDATA PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGOPTIONS
export LC_ALL=C

mode=$1 folder=$2 binaries=$3 port=$4 linger=$5
shift 5
data=$folder/data
made_with=
server=

make() {
    [ -f "$data/PG_VERSION" ] || "$binaries/initdb" --pgdata="$data" --no-sync --username=kcp \
        --pwfile="$folder/password" --auth=password --encoding=UTF8 --locale=C $made_with \
        >"$folder/server.log" 2>&1 </dev/null 7>&- 8<&- 9<&-
}

start() {
    "$binaries/postgres" -D "$data" -p "$port" -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories="$folder" "$@" \
        >>"$folder/server.log" 2>&1 </dev/null 7>&- 8<&- 9<&- &
    server=$!
    until [ "$(head -n 1 "$data/postmaster.pid" 2>/dev/null)" = "$server" ] &&
        grep -q '^ready' "$data/postmaster.pid" 2>/dev/null; do
        running || return 1
        sleep 0.02
    done
}

running() {
    [ -n "$server" ] && kill -0 "$server" 2>/dev/null
}

stop() {
    running && kill "-$1" "$server" && wait "$server"
    server=
}

# The server and its sessions.
all() {
    # The server first: from then on it starts no session.
    kill "-$1" "$server"
    kill "-$1" $(cat "/proc/$server/task/$server/children") 2>/dev/null
}

# Moved away first: a process that comes now must not find half a folder.
remove() {
    mv "$folder" "$folder.gone.$$" && rm -rf "$folder.gone.$$"
}

# What a killed keeper left behind.
stop_orphan() {
    orphan=$(head -n 1 "$data/postmaster.pid" 2>/dev/null)
    if [ -n "$orphan" ] && grep -qs -- "$data" "/proc/$orphan/cmdline"; then
        kill -QUIT "$orphan"
        while kill -0 "$orphan" 2>/dev/null; do sleep 0.02; done
    fi
    rm -rf "$data"
}

# The whole disk, to the last page.
fill() {
    dd if=/dev/zero of="$folder/$linger/filled" bs=4096 >/dev/null 2>&1
}

if [ "$mode" = small ]; then
    # Apart, so that one of the two fills up alone; small segments, because the disk is.
    made_with="--waldir=$folder/wal --wal-segsize=1"
fi

case $mode in
owned | small)
    while read -r command signal; do
        case $command in
        start) if make && start "$@"; then echo ready; else echo failed; fi ;;
        stop) stop "$signal"; echo stopped ;;
        freeze) all STOP; echo frozen ;;
        thaw) all CONT; echo thawed ;;
        fill) fill; echo full ;;
        free) rm -f "$folder/$linger/filled"; echo freed ;;
        revive) if running || start "$@"; then echo ready; else echo failed; fi ;;
        esac
    done
    stop QUIT
    # The folder of a small disk is removed by the process that is outside of its name space.
    [ "$mode" = small ] || remove
    ;;
shared)
    exec 7>"$folder/keeper.lock" 8<"$folder/run.lock" 9<"$folder/start.lock"
    flock --timeout 5 7 || { echo failed; exit 1; }
    echo $$ >"$folder/keeper.pid"
    stop_orphan
    if ! { make && start "$@"; }; then
        echo failed
        exit 1
    fi
    echo ready
    exec >/dev/null
    idle=0
    while running; do
        sleep 1
        if flock --nonblock 8; then
            flock --unlock 8
            idle=$((idle + 1))
        else
            idle=0
        fi
        # Whoever wants the server takes the start lock first, so nobody can be joining now.
        if [ "$idle" -gt "$linger" ] && flock --nonblock 9; then
            if flock --nonblock 8; then
                stop QUIT
                remove
                exit 0
            fi
            flock --unlock 9
        fi
    done
    ;;
esac
