#!/bin/sh
# Installs Frontdoor from an archive of a release, which lies beside this file with SHA256SUMS.
set -eu

usage() {
  cat <<'TEXT'
usage: sh install.sh [--prefix DIR] [--agent] [--archive FILE]

  --prefix DIR    where to install; default: /usr/local as root, else ~/.local
  --agent         the agent alone
  --archive FILE  the archive; default: that of this machine beside install.sh
TEXT
}
fail() {
  echo "install.sh: $1" >&2
  exit 1
}

here=$(dirname "$(readlink -f "$0")")
prefix=
archive=
name=frontdoor
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --archive)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in --prefix) prefix=$2 ;; *) archive=$2 ;; esac
      shift 2
      ;;
    --agent)
      name=frontdoor-agent
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      usage >&2
      fail "\"$1\" is no option"
      ;;
  esac
done

if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?is not set: give --prefix}/.local; fi
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

system=$(uname -s)
machine=$(uname -m)
case $system-$machine in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  *) fail "there is no archive for $system on $machine; with Node.js, install the npm package" ;;
esac

if [ -z "$archive" ]; then
  # Sorted by name, 0.10.0 would come before 0.9.0.
  set -- "$here/$name"-[0-9]*-"$platform.tar.gz"
  [ $# = 1 ] || fail "there are several archives beside install.sh: name one with --archive"
  archive=$1
  [ -f "$archive" ] || fail "there is no archive $name-VERSION-$platform.tar.gz beside install.sh"
fi
[ -f "$archive" ] || fail "$archive does not exist"
file=$(basename "$archive")
case $file in
  frontdoor-agent-*) name=frontdoor-agent ;;
  frontdoor-*) name=frontdoor ;;
  *) fail "$file is no archive of Frontdoor" ;;
esac
case $file in *-"$platform.tar.gz") ;; *) fail "$file is for another system; this one is $platform" ;; esac

sums=$(dirname "$archive")/SHA256SUMS
[ -f "$sums" ] || fail "SHA256SUMS is missing beside $file, so that nothing says whether it is complete"
wanted=$(awk -v file="$file" '$2 == file { print $1 }' "$sums")
[ -n "$wanted" ] || fail "SHA256SUMS has no line for $file"
if command -v sha256sum >/dev/null; then found=$(sha256sum <"$archive"); else found=$(shasum -a 256 <"$archive"); fi
[ "${found%% *}" = "$wanted" ] || fail "$file is damaged: its sum is not that of SHA256SUMS. Download it again"

folder=${file%.tar.gz}
top=$prefix/lib/$name
mkdir -p "$top" "$prefix/bin" 2>/dev/null && [ -w "$top" ] && [ -w "$prefix/bin" ] ||
  fail "$prefix cannot be written; run this as root, or give --prefix"
# What was installed stays as it was until everything else has succeeded.
give_back() {
  for old in "$1"/old/*; do
    if [ -e "$old" ] && [ ! -e "$top/$(basename "$old")" ]; then mv "$old" "$top"; fi
  done
  rm -rf "$1"
}
# Those of runs that were killed.
for left in "$top"/.new-*; do
  pid=${left##*/.new-}
  if [ -d "$left" ] && ! kill -0 "${pid%-*}" 2>/dev/null; then give_back "$left"; fi
done
replaced=
new=$(mktemp -d "$top/.new-$$-XXXXXX") || fail "nothing can be written below $top: is the disk full?"
clean_up() {
  give_back "$new"
  # After a refusal there may be nothing in it.
  rmdir "$top" 2>/dev/null || :
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
# A full disk fails each of a thousand files.
problems=$(tar -xzf "$archive" -C "$new" 2>&1) ||
  fail "$file could not be unpacked below $top: is the disk full? $(echo "$problems" | grep -m 1 ': .*: ')"
chmod 755 "$new"
# The launcher says why, such as a missing C library.
"$new/$folder/bin/frontdoor-agent" --version >/dev/null || fail "the programs do not run on this machine"
for program in "$new/$folder"/bin/*; do
  link=$prefix/bin/$(basename "$program")
  if [ -d "$link" ] || { [ -e "$link" ] && [ ! -L "$link" ]; }; then
    fail "$link exists, and is no link to a program: move it away"
  fi
  # An installation of another kind has the command already; a link whose program is gone belongs to nobody.
  if [ ! -e "$link" ]; then continue; fi
  leads=$(readlink -f "$link")
  case $leads in
    "$(readlink -f "$top")"/*) ;;
    */lib/frontdoor-agent/*) replaced=$(dirname "$(dirname "$(dirname "$leads")")") ;;
    */lib/frontdoor/*)
      fail "$link belongs to the whole product in ${leads%%/lib/frontdoor/*}/lib/frontdoor, which has the agent: upgrade that one, or give another --prefix"
      ;;
    *) fail "$link leads to $leads, which is another installation: remove that one, or give another --prefix" ;;
  esac
done

mkdir "$new/old"
if [ -e "$top/$folder" ]; then mv "$top/$folder" "$new/old"; fi
mv "$new/$folder" "$top/$folder"
made=
for program in "$top/$folder"/bin/*; do
  link=$prefix/bin/$(basename "$program")
  ln -s "$program" "$new/link"
  mv -f "$new/link" "$link"
  made="$made $link"
done

echo "Installed $folder in $top."
echo "Commands:$made"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "Add $prefix/bin to PATH." ;; esac
echo "A program that runs keeps its version until it is restarted."
[ -z "$replaced" ] || echo "The agent in $replaced is replaced. Remove it: rm -rf $replaced"
for other in "$top"/"$name"-*; do
  [ "$other" = "$top/$folder" ] || echo "Another version is still there: $other"
done
echo "To remove it: rm -rf$made $top"
