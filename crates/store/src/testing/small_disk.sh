# Runs a command where one folder is a disk of its own, as the same user.
#
# usage: sh small_disk.sh FOLDER PART MEBIBYTES COMMAND...
#
# FOLDER/PART is the disk. FOLDER is removed when the command has ended, also when there can be no such disk: where the
# machine, or the container, lets nobody make name spaces. It ends as the command does.

folder=$1 part=$2 size=$3
shift 3
mkdir "$folder/$part"
unshare --user --map-root-user --mount sh -c '
    mount -t tmpfs -o "size=$2m,mode=700" tmpfs "$1" || exit 1
    user=$3 group=$4
    shift 4
    exec unshare --user --map-user="$user" --map-group="$group" "$@"
' sh "$folder/$part" "$size" "$(id -u)" "$(id -g)" "$@"
ended=$?
# It may have had too little time, or no name space.
rm -rf "$folder"
exit "$ended"
