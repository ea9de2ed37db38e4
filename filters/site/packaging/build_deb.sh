#!/bin/bash
# Build a Debian package of a wheel: build_deb.sh WHEEL DIRECTORY.
# The wheel and what it needs lie in a virtual environment in /usr/lib/tapestry, of this machine's
# architecture and Python; the service, the manual and completion where Debian looks for them.
set -euo pipefail
wheel=$(realpath "$1") out=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
python=${PYTHON:-/usr/bin/python3}
version=$(basename "$wheel" | cut -d- -f2)
architecture=$(dpkg --print-architecture)
minor=$("$python" -c 'import sys; print(sys.version_info.minor)')
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
home=usr/lib/tapestry

"$python" -m venv "$root/$home"
pip=("$root/$home/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-compile)
"${pip[@]}" --require-hashes --requirement "$here/../../../requirements.txt"
"${pip[@]}" --no-deps --no-index "$wheel"
"$root/$home/bin/python" -m pip --disable-pip-version-check uninstall --quiet --yes pip
# Its programs name the directory in which it was built.
grep -rlIF "$root" "$root/$home/bin" "$root/$home/pyvenv.cfg" | xargs sed -i "s#$root##g"
find "$root/$home" -name __pycache__ -prune -exec rm -rf {} +

mkdir -p "$root"/usr/bin "$root"/usr/share "$root"/lib/systemd/system "$root"/DEBIAN
ln -s /$home/bin/tapestry "$root/usr/bin/tapestry"
for shared in man bash-completion zsh fish; do
	mv "$root/$home/share/$shared" "$root/usr/share/$shared"
done
gzip --best --no-name "$root"/usr/share/man/man1/*.1
install -m 644 "$here/tapestry.service" "$root/lib/systemd/system/"
install -m 755 "$here/postinst" "$here/prerm" "$root/DEBIAN/"
sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@PYTHON@/3.$minor/; s/@NEXT_PYTHON@/3.$((minor + 1))/" \
	"$here/control" >"$root/DEBIAN/control"
chmod 755 "$root"
dpkg-deb --root-owner-group -Zzstd -z3 --build "$root" "$out/tapestry_${version}_$architecture.deb"
