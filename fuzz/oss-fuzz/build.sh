#!/bin/bash -eu
# Builds the fuzz targets: runs in the checkout, in the image of the Dockerfile beside it. The service sets SRC (sources),
# WORK (scratch) and OUT (what it takes away), CC, CFLAGS, CXX, CXXFLAGS and LIB_FUZZING_ENGINE, and has
# compile_python_fuzzer on PATH.

harnesses=fuzz/oss-fuzz

pip3 install .

# Data that is read while a target runs: grammars, layouts, schemas, the registry of ids.
data=(--collect-data overlong.reference --collect-data overlong.conformance)
for harness in "$harnesses"/fuzz_*.py; do
    compile_python_fuzzer "$harness" "${data[@]}"
done

# The core in C, without Python.
core=reference/overlong/reference/core
python3 "$harnesses/core_tables.py" >"$WORK/core_tables.h"
for source in "$harnesses/fuzz_core.c" "$core/decoding.c" "$core/columns.c"; do
    $CC $CFLAGS -std=c11 -I"$WORK" -I"$core" -c "$source" -o "$WORK/$(basename "$source" .c).o"
done
$CXX $CXXFLAGS $LIB_FUZZING_ENGINE "$WORK"/{fuzz_core,decoding,columns}.o -o "$OUT/fuzz_core"

# Octets: each known kind of fault is a seed, and what the automaton is made of is a dictionary.
octets=$WORK/octets
rm -rf "$octets"
python3 -m overlong vectors export --format libfuzzer --suite core -o "$octets"
for name in fuzz_core fuzz_cpython fuzz_incremental; do
    cp "$octets/utf8.dict" "$OUT/$name.dict"
    (cd "$octets/seeds" && python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" ./*)
done

# Files: the first octet of a seed says of what kind it is (see fuzz_files.py).
files=$WORK/files
rm -rf "$files"
mkdir -p "$files"
for kind in json jsonl; do
    python3 -m overlong vectors export --format "$kind" nul -o "$WORK/nul.$kind"
    (printf '%c' "${kind: -1}" && cat "$WORK/nul.$kind") >"$files/nul.$kind"
done
for regression in corpora/regressions/*.json; do
    [ -e "$regression" ] || continue
    (printf n && cat "$regression") >"$files/$(basename "$regression")"
done
for grammar in reference/overlong/reference/grammars/*.abnf; do
    (printf g && cat "$grammar") >"$files/$(basename "$grammar")"
done
cp "$harnesses/fuzz_files.dict" "$OUT/fuzz_files.dict"
(cd "$files" && python3 -m zipfile -c "$OUT/fuzz_files_seed_corpus.zip" ./*)
